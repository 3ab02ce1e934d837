//! Workspaces of other tools: started as they are, and their files changed by nobody but the agent.

use crate::support::scenario::Ends::Verified;
use crate::support::scenario::Scenario;

#[test]
fn stories_with_a_status_are_a_task() {
    let stories = r#"{
  "version": 1,
  "project": "Shop",
  "qualityGates": ["test -f gate"],
  "stories": [
    {"id": "US-1", "title": "Sell", "description": "", "acceptanceCriteria": ["It sells: `exists sold`"], "dependsOn": [], "status": "open", "updatedAt": null},
    {"id": "US-0", "title": "Open", "acceptanceCriteria": [], "status": "done"}
  ]
}
"#;
    let template = "# Build\n\nWork on {{STORY_ID}}.\n\n{{STORY_BLOCK}}\n";
    let finish = "touch sold gate; sed -i 's/\"open\"/\"done\"/' .agents/tasks/prd.json; cat > ../prompt";
    let played = Scenario {
        files: &[
            (".agents/tasks/prd.json", stories),
            (".agents/ralph/PROMPT_build.md", template),
            (".ralph/progress.md", "# Progress\n"),
        ],
        acts: &[finish],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    played.file(".agents/ralph/PROMPT_build.md", template).file(".ralph/progress.md", "# Progress\n");
    played.file(".agents/tasks/prd.json", &stories.replace("\"open\"", "\"done\""));
}
