//! The rows of the table.

use super::Workspace;

macro_rules! workspaces {
    ($($name:ident $row:expr)*) => {
        $(#[test]
        fn $name() {
            $row.play();
        })*
    };
}

workspaces! {
    frankbria Workspace {
        folder: "frankbria",
        task: ".ralph/PROMPT.md",
        outline: &[".ralph/PROMPT.md: # Ralph Development Instructions", ".ralph/fix_plan.md: Sell things 🛒", ".ralph/fix_plan.md: Count what is sold", ".ralph/fix_plan.md: Décorate the shop", ".ralph/fix_plan.md: Project initialization"],
        prompt: &["You are Ralph"],
        shows: &["Plan      1 of 4 done", "limits.calls_per_hour = 40", "agents.claude.args"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i 's/\\[ \\] [SC]/[x] /' .ralph/fix_plan.md",
    }
    frankbria_defaults Workspace {
        folder: "frankbria-defaults",
        task: ".ralph/PROMPT.md",
        outline: &[".ralph/PROMPT.md: # Ralph Development Instructions", ".ralph/fix_plan.md: Set up basic project structure and build system", ".ralph/fix_plan.md: Define core data structures and types", ".ralph/fix_plan.md: Implement basic input/output handling", ".ralph/fix_plan.md: Create test framework and initial tests", ".ralph/fix_plan.md: Add error handling and validation", ".ralph/fix_plan.md: Implement core business logic", ".ralph/fix_plan.md: Add configuration management", ".ralph/fix_plan.md: Create user documentation", ".ralph/fix_plan.md: Performance optimization", ".ralph/fix_plan.md: Extended feature set", ".ralph/fix_plan.md: Integration with external services", ".ralph/fix_plan.md: Advanced error recovery", ".ralph/fix_plan.md: Nice-to-have enhancements (non-blocking)", ".ralph/fix_plan.md: Project initialization"],
        prompt: &["You are Ralph, an autonomous AI development agent working on a shop project"],
        shows: &["Plan      1 of 14 done", "limits.calls_per_hour = 100", "limits.iteration_time = \"15m\"", "session.expires = \"24h\"", "breaker.same_error = 5", "breaker.output_decline = 70", "breaker.cooldown = \"30m\"", "\"Bash(git stash *)\""],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i '/## Optional/,$!s/\\[ \\]/[x]/' .ralph/fix_plan.md",
    }
    frankbria_generated Workspace {
        folder: "frankbria-generated",
        task: ".ralph/PROMPT.md",
        outline: &[".ralph/PROMPT.md: # Ralph Development Instructions", ".ralph/fix_plan.md: Review codebase and understand architecture", ".ralph/fix_plan.md: Identify and document key components", ".ralph/fix_plan.md: Set up development environment", ".ralph/fix_plan.md: Implement core features", ".ralph/fix_plan.md: Add test coverage", ".ralph/fix_plan.md: Update documentation", ".ralph/fix_plan.md: Performance optimization", ".ralph/fix_plan.md: Code cleanup and refactoring", ".ralph/fix_plan.md: Project enabled for Ralph"],
        prompt: &["You are Ralph, an autonomous AI development agent working on the **shop** project"],
        shows: &["agents.claude.command = [\"npx\", \"@anthropic-ai/claude-code\"]", "limits.calls_per_hour = 100", "breaker.no_progress = 3"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i 's/\\[ \\]/[x]/' .ralph/fix_plan.md",
    }
    plan_file Workspace {
        folder: "plan-file",
        task: "PROMPT.md",
        outline: &["PLAN.md: Open the shop", "PLAN.md: Sell things", "PLAN.md: Count what is sold: `exists counted`", "PLAN.md: Décorate the shop", "PROMPT.md: # Shop"],
        prompt: &["Its boxes are in `PLAN.md`"],
        shows: &["Plan      1 of 4 done", "open: Sell things\n", "open: Décorate the shop (optional)"],
        args: &[],
        act: "touch counted; sed -i 's/\\[[ ~]\\]/[x]/' PLAN.md",
    }
    plan_table Workspace {
        folder: "plan-table",
        task: "PROMPT_build.md",
        outline: &["IMPLEMENTATION_PLAN.md: Open the shop", "IMPLEMENTATION_PLAN.md: Sell things", "IMPLEMENTATION_PLAN.md: Décorate the shop", "PROMPT_build.md: # Shop"],
        prompt: &["in a table, set its status"],
        shows: &["Plan      1 of 3 done", "open: Sell things\n", "open: Décorate the shop (optional)"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i 's/In progress/Done/' IMPLEMENTATION_PLAN.md",
    }
    frankbria_flat Workspace {
        folder: "frankbria-flat",
        task: "PROMPT.md",
        outline: &["@fix_plan.md: Sell things", "@fix_plan.md: Open the shop", "PROMPT.md: # Shop"],
        prompt: &["Its boxes are in `@fix_plan.md`"],
        shows: &["Plan      1 of 2 done"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i 's/\\[ \\]/[x]/' @fix_plan.md",
    }
    bmalph Workspace {
        folder: "bmalph",
        task: ".ralph/PROMPT.md",
        outline: &[".ralph/.ralphrc: test -f sold", ".ralph/.ralphrc: test -f open", ".ralph/.ralphrc: test -f counted", ".ralph/@fix_plan.md: Story 1.1: Sell things", ".ralph/@fix_plan.md: Story 1.2: Open the shop", ".ralph/PROMPT.md: # Shop"],
        prompt: &[],
        shows: &["The tests pass", "test -f counted", "Plan      1 of 2 done"],
        args: &[],
        act: "touch sold open counted; sed -i 's/\\[ \\]/[x]/' .ralph/@fix_plan.md",
    }
    snarktank Workspace {
        folder: "snarktank",
        task: "scripts/ralph/prompt.md",
        outline: &["scripts/ralph/prd.json: It sells: `exists sold`", "scripts/ralph/prd.json: Typecheck passes", "scripts/ralph/prd.json: It is open: `exists open`", "scripts/ralph/prompt.md: # Ralph Agent Instructions"],
        prompt: &["Its stories are in `scripts/ralph/prd.json`", "next: US-002"],
        shows: &["Plan      0 of 2 done"],
        args: &[],
        act: "touch sold open; echo '<promise>COMPLETE</promise>'; sed -i 's/\"passes\": false/\"passes\": true/' scripts/ralph/prd.json",
    }
    snarktank_claude Workspace {
        folder: "snarktank-claude",
        task: "scripts/ralph/CLAUDE.md",
        outline: &["scripts/ralph/CLAUDE.md: # Ralph Agent Instructions", "scripts/ralph/prd.json: It sells: `exists sold`", "scripts/ralph/prd.json: Typecheck passes", "scripts/ralph/prd.json: It is open: `exists open`"],
        prompt: &["You are an autonomous coding agent", "Its stories are in `scripts/ralph/prd.json`"],
        shows: &["Plan      0 of 2 done"],
        args: &[],
        act: "touch sold open; echo '<promise>COMPLETE</promise>'; sed -i 's/\"passes\": false/\"passes\": true/' scripts/ralph/prd.json",
    }
    snarktank_root Workspace {
        folder: "snarktank-root",
        task: "prompt.md",
        outline: &["prd.json: It sells: `exists sold`", "prd.json: Typecheck passes", "prd.json: It is open: `exists open`", "prompt.md: # Ralph Agent Instructions"],
        prompt: &["You are an autonomous coding agent", "Its stories are in `prd.json`"],
        shows: &["Plan      0 of 2 done"],
        args: &[],
        act: "touch sold open; echo '<promise>COMPLETE</promise>'; sed -i 's/\"passes\": false/\"passes\": true/' prd.json",
    }
    ralph_tui Workspace {
        folder: "ralph-tui",
        task: "prd.json",
        outline: &["prd.json: It sells: `exists sold`", "prd.json: Öffnen"],
        prompt: &["The task is the list of stories in `prd.json`"],
        shows: &["Plan      1 of 2 done", "limits.iterations = 15"],
        args: &[],
        act: "touch sold; sed -i 's/\"passes\": false/\"passes\": true/' prd.json",
    }
    ralph_tui_with_beads Workspace {
        folder: "ralph-tui-beads",
        task: ".beads/issues.jsonl",
        outline: &[".beads/issues.jsonl: Sell things"],
        prompt: &["Its issues are in `.beads/issues.jsonl`, which Beads writes"],
        shows: &["Plan      0 of 1 done", "limits.iterations = 12"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i '/1.1/s/open/closed/' .beads/issues.jsonl",
    }
    beads_prompt Workspace {
        folder: "beads-prompt",
        task: "PROMPT.md",
        outline: &[".beads/issues.jsonl: Öffnen", ".beads/issues.jsonl: Sell things", ".beads/issues.jsonl: Grow", "PROMPT.md: It sells: `exists sold`"],
        prompt: &["next: shop-1.2: Sell things", "open: shop-2: Grow (optional)"],
        shows: &["Plan      1 of 3 done"],
        args: &[],
        act: "touch sold; sed -i '/1.2/s/open/closed/' .beads/issues.jsonl",
    }
    feature_list Workspace {
        folder: "feature-list",
        task: "feature_list.json",
        outline: &["feature_list.json: Sell things 🛒", "feature_list.json: Décorate the shop"],
        prompt: &["The task is the list of stories in `feature_list.json`", "set its `passes` to `true`"],
        shows: &["Plan      1 of 2 done"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i 's/\"passes\": false/\"passes\": true/' feature_list.json",
    }
    feature_list_with_status Workspace {
        folder: "feature-list-status",
        task: "feature_list.json",
        outline: &["feature_list.json: Open", "feature_list.json: It sells: `exists sold`"],
        prompt: &["set its `status` to `\"passing\"`", "next: feat-002: Sell"],
        shows: &["Plan      1 of 2 done"],
        args: &[],
        act: "touch sold; sed -i 's/in_progress\",$/passing\",/' feature_list.json",
    }
    ralphy_folder Workspace {
        folder: "ralphy-folder",
        task: "prd/backend.md",
        outline: &[".ralphy/config.yaml: \"test -f sold\"", "prd/backend.md: open the shop", "prd/backend.md: sell things", "prd/frontend.md: décorate the shop"],
        prompt: &["Its boxes are in `prd/backend.md`", "Its boxes are in `prd/frontend.md`"],
        shows: &["Plan      1 of 3 done", "test -f sold"],
        args: &[],
        act: "touch sold; sed -i 's/\\[ \\]/[x]/' prd/*.md",
    }
    ralphex_with_another_folder Workspace {
        folder: "ralphex-plans-dir",
        task: "specs/next/shop.md",
        outline: &["specs/next/shop.md: `test -f sold`", "specs/next/shop.md: sell things", "specs/next/shop.md: deploy by hand"],
        prompt: &["Its boxes are in `specs/next/shop.md`"],
        shows: &["Plan      0 of 2 done", "limits.iterations = 9"],
        args: &[],
        act: "touch sold; sed -i '/sell/s/\\[ \\]/[x]/' specs/next/shop.md",
    }
    ralfpretzel Workspace {
        folder: "ralfpretzel",
        task: "prd.json",
        outline: &["prd.json: It sells", "prd.json: test -f sold", "prd.json: test -f counted"],
        prompt: &[],
        shows: &["test -f counted"],
        args: &[],
        act: "touch sold counted; echo '<promise>COMPLETE</promise>'; sed -i 's/\"passes\": false/\"passes\": true/' prd.json",
    }
    iannuttall Workspace {
        folder: "iannuttall",
        task: ".agents/tasks/prd.json",
        outline: &[".agents/tasks/prd.json: test -f gate", ".agents/tasks/prd.json: It sells: `exists sold`", ".agents/tasks/prd.json: Open the shop"],
        prompt: &["set its `status` to `\"done\"`"],
        shows: &["test -f gate", "Plan      1 of 2 done"],
        args: &[],
        act: "touch sold gate; sed -i 's/\"open\"/\"done\"/' .agents/tasks/prd.json",
    }
    ralph_orchestrator Workspace {
        folder: "ralph-orchestrator",
        task: "PROMPT.md",
        outline: &[".ralph/agent/tasks.jsonl: Sell things", ".ralph/agent/tasks.jsonl: 开店", "PROMPT.md: # Shop", "ralph.yml: \"test -f open\""],
        prompt: &["Make it sell.", "next: task-1: Sell things", "set its `status` to `\"closed\"`"],
        shows: &["Plan      1 of 2 done", "opens", "limits.iterations = 40", "exit.promise = \"LOOP_COMPLETE\""],
        args: &[],
        act: "touch open; sed -i 's/\"open\"/\"closed\"/' .ralph/agent/tasks.jsonl",
    }
    ralph_orchestrator_flat Workspace {
        folder: "ralph-orchestrator-flat",
        task: "SHOP.md",
        outline: &["SHOP.md: It sells: `exists sold`"],
        prompt: &["Make it sell."],
        shows: &["limits.iterations = 30", "limits.cost_usd = 5.0"],
        args: &[],
        act: "touch sold",
    }
    ralph_orchestrator_inline Workspace {
        folder: "ralph-orchestrator-inline",
        task: "ralph.yml",
        outline: &["ralph.yml: It sells: `exists sold`"],
        prompt: &["# Shop 🛒"],
        shows: &["limits.iterations = 4", "exit.promise = \"SHOP_DONE\""],
        args: &[],
        act: "touch sold",
    }
    dot_ralph_prd Workspace {
        folder: "dot-ralph-prd",
        task: ".ralph/prd.json",
        outline: &[".ralph/prd.json: The door opens", ".ralph/prd.json: It sells: `exists sold`"],
        prompt: &["next: S-002: Vendre 🛒", "set its `passes` to `true`"],
        shows: &["Plan      1 of 2 done"],
        args: &[],
        act: "touch sold; sed -i 's/false/true/' .ralph/prd.json; echo '<promise>COMPLETE</promise>'",
    }
    plans_prd Workspace {
        folder: "plans-prd",
        task: "plans/prd.json",
        outline: &["plans/prd.json: The shop opens", "plans/prd.json: 卖东西"],
        prompt: &["open: 卖东西", "Its `steps` say how to try it.", "set its `passes` to `true`"],
        shows: &["Plan      1 of 2 done"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i 's/false/true/' plans/prd.json",
    }
    tasks_list Workspace {
        folder: "tasks-list",
        task: ".ralph/PROMPT.md",
        outline: &[".ralph/PROMPT.md: # Shop", ".ralph/tasks.json: Open the shop", ".ralph/tasks.json: Sell things"],
        prompt: &["next: setup-02: Sell things", "set its `passes` to `true`"],
        shows: &["Plan      1 of 2 done"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i 's/false/true/' .ralph/tasks.json",
    }
    ghuntley Workspace {
        folder: "ghuntley",
        task: "prompt.md",
        outline: &["fix_plan.md: sell things", "fix_plan.md: open the shop", "prompt.md: 0a. study specs/* to learn about the shop"],
        prompt: &["study specs/*", "Its boxes are in `fix_plan.md`"],
        shows: &["Plan      1 of 2 done"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i 's/\\[ \\]/[x]/' fix_plan.md",
    }
    ralph_orchestrator_named Workspace {
        folder: "ralph-orchestrator-named",
        task: "specs/shop/PROMPT.md",
        outline: &["PROMPT.md: # Other", "specs/shop/PROMPT.md: It sells: `exists sold`"],
        prompt: &["# Shop"],
        shows: &["exit.promise = \"SHOP_COMPLETE\"", "limits.iterations = 20"],
        args: &[],
        act: "touch sold",
    }
    ralphex Workspace {
        folder: "ralphex",
        task: "docs/plans/2026-01-01-shop.md",
        outline: &["docs/plans/2026-01-01-shop.md: `test -f sold`", "docs/plans/2026-01-01-shop.md: sell things", "docs/plans/2026-01-01-shop.md: write `[ ]` boxes", "docs/plans/2026-01-01-shop.md: open the shop", "docs/plans/2026-01-01-shop.md: deploy by hand"],
        prompt: &[],
        shows: &["Plan      1 of 4 done", "limits.iterations = 30", "open: deploy by hand (optional)"],
        args: &[],
        act: "touch sold; sed -i 's/\\[ \\] sell/[x] sell/' docs/plans/2026-01-01-shop.md",
    }
    ralphy Workspace {
        folder: "ralphy",
        task: "PRD.md",
        outline: &[".ralphy/config.yaml: \"test -f sold\"", "PRD.md: sell things", "PRD.md: open the shop"],
        prompt: &["Its boxes are in `PRD.md`"],
        shows: &["The tests pass", "Plan      1 of 2 done"],
        args: &[],
        act: "touch sold; sed -i 's/\\[ \\]/[x]/' PRD.md",
    }
    ralphy_yaml Workspace {
        folder: "ralphy-yaml",
        task: "tasks.yaml",
        outline: &[".ralphy/config.yaml: \"test -f sold\"", "tasks.yaml: Créate it", "tasks.yaml: sell things", "tasks.yaml: open the shop"],
        prompt: &["The task is the list of stories in `tasks.yaml`", "next: sell things", "set its `completed` to `true`"],
        shows: &["The tests pass", "Plan      1 of 3 done"],
        args: &[],
        act: "touch sold; sed -i 's/false/true/' tasks.yaml",
    }
    ralphy_json Workspace {
        folder: "ralphy-json",
        task: "tasks.json",
        outline: &[".ralphy/config.yaml: \"test -f sold\"", "tasks.json: sell things", "tasks.json: open the shop"],
        prompt: &["next: sell things"],
        shows: &["The tests pass", "Plan      1 of 2 done"],
        args: &[],
        act: "touch sold; sed -i 's/false/true/' tasks.json",
    }
    open_ralph_wiggum Workspace {
        folder: "open-ralph-wiggum",
        task: ".ralph/ralph-loop.state.json",
        outline: &[".ralph/ralph-loop.state.json: \"Make it sell.\\nDone when:\\n- it sells: `exists sold`\"", ".ralph/ralph-tasks.md: Sell", ".ralph/ralph-tasks.md: Count", ".ralph/ralph-tasks.md: Open"],
        prompt: &["Make it sell.\nDone when:"],
        shows: &["Plan      1 of 3 done", "limits.iterations = 7"],
        args: &[],
        act: "touch sold; sed -i 's/\\[.\\]/[x]/' .ralph/ralph-tasks.md",
    }
    ralph_wiggum_cursor Workspace {
        folder: "ralph-wiggum-cursor",
        task: "RALPH_TASK.md",
        outline: &["RALPH_TASK.md: test_command: \"test -f open\"", "RALPH_TASK.md: It sells: `exists sold`", "RALPH_TASK.md: It counts: `exists counted`"],
        prompt: &["# Task: Shop"],
        shows: &["test -f open", "limits.iterations = 20"],
        args: &[],
        act: "touch sold counted open; sed -i 's/\\[ \\]/[x]/' RALPH_TASK.md",
    }
    fitchmultz Workspace {
        folder: "fitchmultz",
        task: ".ralph/queue.jsonc",
        outline: &[".ralph/config.jsonc: [\"test\", \"-f\", \"sold\"]", ".ralph/queue.jsonc: Sell things", ".ralph/queue.jsonc: Open the shop", ".ralph/queue.jsonc: Paint the shop"],
        prompt: &["RQ-0001: Sell things"],
        shows: &["The CI gate passes", "Plan      1 of 3 done", "RQ-0002: Paint the shop (optional)"],
        args: &[],
        act: "touch sold; sed -i 's/todo/done/' .ralph/queue.jsonc",
    }
    fitchmultz_json Workspace {
        folder: "fitchmultz-json",
        task: ".ralph/queue.json",
        outline: &[".ralph/queue.json: Sell things", ".ralph/queue.json: Open the shop"],
        prompt: &["RQ-0001: Sell things"],
        shows: &["Plan      1 of 2 done"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i 's/todo/done/' .ralph/queue.json",
    }
    spec_kit Workspace {
        folder: "spec-kit",
        task: "specs/001-shop/tasks.md",
        outline: &["specs/001-shop/tasks.md: T001 Create project structure per implementation plan", "specs/001-shop/tasks.md: T002 [P] Open the shop in src/open.ts", "specs/001-shop/tasks.md: T003 [US1] Sell things in src/sell.ts: `exists sold`"],
        prompt: &["Its boxes are in `specs/001-shop/tasks.md`", "open: T003", "- specs/001-shop/spec.md\n- specs/001-shop/plan.md"],
        shows: &["Plan      1 of 3 done"],
        args: &[],
        act: "touch sold; sed -i 's/\\[ \\]/[x]/' specs/001-shop/tasks.md",
    }
    kiro Workspace {
        folder: "kiro",
        task: ".kiro/specs/shop/tasks.md",
        outline: &[".kiro/specs/shop/tasks.md: 1. Set up project structure", ".kiro/specs/shop/tasks.md: 2. Open the shop", ".kiro/specs/shop/tasks.md: 2.1 Sell things 🛒: `exists sold`", ".kiro/specs/shop/tasks.md: 2.2 Write property tests for selling", ".kiro/specs/shop/tasks.md: 3. Checkpoint: `exists open`"],
        prompt: &["Its boxes are in `.kiro/specs/shop/tasks.md`", "- .kiro/specs/shop/requirements.md\n", "2.2 Write property tests for selling (optional)"],
        shows: &["Plan      1 of 5 done", "open: 2. Open the shop\n"],
        args: &[],
        act: "touch sold open; sed -i 's/\\[[ -]\\] /[x] /' .kiro/specs/shop/tasks.md",
    }
    todo_plan Workspace {
        folder: "todo-plan",
        task: "PROMPT.md",
        outline: &["PROMPT.md: # Shop", "TODO.md: Open the shop", "TODO.md: Sell things: `exists sold`"],
        prompt: &["Its boxes are in `TODO.md`"],
        shows: &["Plan      1 of 2 done"],
        args: &[],
        act: "touch sold; sed -i 's/\\[ \\]/[x]/' TODO.md",
    }
    task_file Workspace {
        folder: "task-file",
        task: "TASK.md",
        outline: &["TASK.md: It sells: `exists sold`", "TASK.md: It is open: `exists open`"],
        prompt: &["The shop sells."],
        shows: &["It is open"],
        args: &[],
        act: "touch sold open; sed -i 's/\\[ \\]/[x]/' TASK.md",
    }
    ralphdex Workspace {
        folder: "ralphdex",
        task: ".ralph/prd.md",
        outline: &[".ralph/prd.md: # Shop", ".ralph/tasks.json: It counts: `exists counted`", ".ralph/tasks.json: test -f sold", ".ralph/tasks.json: Open the shop"],
        prompt: &["Make it sell."],
        shows: &["test -f sold", "Plan      1 of 2 done"],
        args: &[],
        act: "touch sold counted; sed -i 's/todo/done/' .ralph/tasks.json",
    }
    lkonga Workspace {
        folder: "lkonga",
        task: "PRD.md",
        outline: &[".ralph/run-config.json: test -f open", ".ralph/run-config.json: test -f sold", "PRD.md: **T1** Sell things", "PRD.md: **T2** Count them depends: T1", "PRD.md: **T0** Open the shop [DECOMPOSED]"],
        prompt: &["after T1"],
        shows: &["The build succeeds", "The tests pass"],
        args: &[],
        act: "touch sold open; sed -i 's/\\[ \\] \\*\\*T[12]/[x] **T/' PRD.md",
    }
    ralphify_checks Workspace {
        folder: "ralphify-checks",
        task: "RALPH.md",
        outline: &[".ralphify/checks/counts/run.sh: #!/bin/sh", ".ralphify/checks/sells/CHECK.md: test -f sold", ".ralphify/contexts/stock/CONTEXT.md: echo 3 left", ".ralphify/ralphs/docs/RALPH.md: # Docs", "RALPH.md: # Shop"],
        prompt: &["The stock:\n\n```\n3 left\n```", "Write small functions."],
        shows: &["sells", "counts"],
        args: &[],
        act: "touch sold counted",
    }
    ralphify_dot_ralph Workspace {
        folder: "ralphify-dot-ralph",
        task: "PROMPT.md",
        outline: &[".ralph/checks/sells/CHECK.md: test -f sold", "PROMPT.md: # Shop"],
        prompt: &["Make it sell.\n\nWrite small functions."],
        shows: &["sells"],
        args: &[],
        act: "touch sold",
    }
    ralphify Workspace {
        folder: "ralphify",
        task: "ralphs/shop/RALPH.md",
        outline: &["ralphs/shop/RALPH.md:     run: ./stock.sh", "ralphs/shop/RALPH.md: It sells: `exists sold`"],
        prompt: &["3 left in shop", "This is shop, iteration 1 of 25. Focus: ."],
        shows: &["stock (optional)"],
        args: &[],
        act: "touch sold",
    }
    playbook Workspace {
        folder: "playbook",
        task: "PROMPT_build.md",
        outline: &["IMPLEMENTATION_PLAN.md: Sell things", "IMPLEMENTATION_PLAN.md: Open the shop", "PROMPT_build.md: 0a. Study `specs/*` with up to 500 parallel Sonnet subagents."],
        prompt: &["Do the most important item"],
        shows: &["Plan      1 of 2 done"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i 's/\\[ \\]/[x]/' IMPLEMENTATION_PLAN.md",
    }
    nixuuu Workspace {
        folder: "nixuuu",
        task: ".ralph/tasks.yml",
        outline: &[".ralph.toml: test -f sold", ".ralph.toml: test -f open", ".ralph/tasks.yml: Sell things", ".ralph/tasks.yml: Open the shop"],
        prompt: &["1.1: Sell things"],
        shows: &["Plan      1 of 2 done", "It is open"],
        args: &[],
        act: "touch sold open; sed -i 's/todo/done/' .ralph/tasks.yml",
    }
    nixuuu_progress Workspace {
        folder: "nixuuu-progress",
        task: "SYSTEM_PROMPT.md",
        outline: &["PROGRESS.md: T01 [shop] Open the shop", "PROGRESS.md: T02 [shop] Sell things", "PROGRESS.md: T03 [shop] Count them", "PROGRESS.md: T04 [shop] Close the shop", "SYSTEM_PROMPT.md: # Shop"],
        prompt: &["Do the current task"],
        shows: &["Plan      1 of 4 done"],
        args: &["--check", "test -f sold"],
        act: "touch sold; sed -i 's/\\[.\\] T/[x] T/' PROGRESS.md",
    }
    objective Workspace {
        folder: "objective",
        task: "shop.ralph.md",
        outline: &["shop.ralph.md: It sells: `exists sold`", "shop.ralph.md: It counts: `exists counted`"],
        prompt: &["Sell things"],
        shows: &["It counts"],
        args: &[],
        act: "touch sold counted",
    }
}
