-- The messages between server and client beyond LSP, as defined in server/PROTOCOL.md, and nothing else. Declares names
-- and types; contains no logic.

local M = {}

M.version = 1

M.notifications = {
  status = 'loopkeeper/status',
  output = 'loopkeeper/output',
  alert = 'loopkeeper/alert',
}

M.requests = {
  loops = 'loopkeeper/loops',
  subscribe = 'loopkeeper/subscribe',
  iterations = 'loopkeeper/iterations',
  trustPage = 'loopkeeper/trustPage',
  transcript = 'loopkeeper/transcript',
  startPreview = 'loopkeeper/startPreview',
}

M.commands = {
  start = 'loopkeeper.server.start',
  stop = 'loopkeeper.server.stop',
  pause = 'loopkeeper.server.pause',
  resume = 'loopkeeper.server.resume',
  check = 'loopkeeper.server.check',
  cancelChecks = 'loopkeeper.server.cancelChecks',
  output = 'loopkeeper.server.output',
  resetBreaker = 'loopkeeper.server.resetBreaker',
  acceptWeakening = 'loopkeeper.server.acceptWeakening',
  resetSession = 'loopkeeper.server.resetSession',
  steer = 'loopkeeper.server.steer',
  answer = 'loopkeeper.server.answer',
  rollback = 'loopkeeper.server.rollback',
  undoRollback = 'loopkeeper.server.undoRollback',
  diff = 'loopkeeper.server.diff',
  receipt = 'loopkeeper.server.receipt',
  report = 'loopkeeper.server.report',
  feedback = 'loopkeeper.server.feedback',
  skip = 'loopkeeper.server.skip',
  prioritize = 'loopkeeper.server.prioritize',
  export = 'loopkeeper.server.export',
  trust = 'loopkeeper.server.trust',
  untrust = 'loopkeeper.server.untrust',
  import = 'loopkeeper.server.import',
  newTask = 'loopkeeper.server.newTask',
}

M.errors = {
  untrusted = 'untrusted',
  unsaved = 'unsaved',
  treeBusy = 'treeBusy',
  noTask = 'noTask',
  agentMissing = 'agentMissing',
  conflict = 'conflict',
  unsupported = 'unsupported',
  badArgument = 'badArgument',
}

---@class loopkeeper.StatusParams
---@field version integer
---@field seq integer
---@field health "ok"|"warning"|"error"
---@field message? string
---@field trusted boolean
---@field loops loopkeeper.LoopStatus[]
---@field tasks loopkeeper.TaskEntry[]
---@field foreign? loopkeeper.ForeignLoop[]
---@field alerts? loopkeeper.AlertParams[]

---@class loopkeeper.ForeignLoop
---@field uri string
---@field root string
---@field iteration integer
---@field maxIterations? integer
---@field promise? string
---@field startedAt? string
---@field prompt string

---@class loopkeeper.TaskEntry
---@field id string
---@field uri string
---@field root string
---@field title string
---@field state loopkeeper.State
---@field loopId? string
---@field checking boolean
---@field rounds? integer
---@field unknownCommands integer
---@field criteria loopkeeper.CriteriaStatus

---@class loopkeeper.OutputParams
---@field loopId string
---@field iteration integer
---@field text string

---@class loopkeeper.AlertParams
---@field loopId string
---@field kind "ended"|"needsYou"|"warning"
---@field severity "info"|"warning"|"error"
---@field message string
---@field actions lsp.Command[]
---@field followUp? loopkeeper.AlertQuestion
---@field commands? loopkeeper.HintCommand[]

--- A command of the terminal in the hint of a message.
---@class loopkeeper.HintCommand
---@field text string
---@field name "run"|"status"|"watch"|"stop"|"pause"|"resume"|"steer"|"answer"|"rollback"|"trust"

--- Asked once the user chose one of the actions of the alert.
---@class loopkeeper.AlertQuestion
---@field message string
---@field actions lsp.Command[]

---@alias loopkeeper.State "working"|"needsYou"|"paused"|"done"|"idle"
---@alias loopkeeper.Phase
---| "baseline"
---| "iterating"
---| "checking"
---| "waiting"
---| "stopping"
---| "untrusted"
---| "needsAnswer"
---| "interrupted"
---| "damaged"
---| "paused"
---| "ended"

---@class loopkeeper.LoopStatus
---@field id string
---@field seq integer
---@field task { uri: string, title: string }
---@field agent string
---@field state loopkeeper.State
---@field phase loopkeeper.Phase
---@field iteration integer
---@field limits { iterations: integer, durationMs: integer, costMicros: integer, tokens?: integer, callsPerHour: integer }
---@field criteria loopkeeper.CriteriaStatus
---@field groups? loopkeeper.Group[]
---@field plan { done: integer, open: integer, total: integer }
---@field breaker loopkeeper.BreakerStatus
---@field session? { id: string, startedAt: string, resets: integer, own?: boolean }
---@field spawns loopkeeper.SpawnStatus
---@field wait? { reason: string, resumesAt: string }
---@field question? loopkeeper.QuestionStatus
---@field pause? { reason: string, message: string }
---@field spent { costMicros?: integer, tokens?: integer, calls: integer, callsThisHour: integer }
---@field startedAt string
---@field pausedMs integer
---@field activity? string
---@field stale? boolean
---@field staleReason? "rolledBack"|"filesChanged"
---@field warnings? string[]
---@field forecast? string
---@field drift? { iteration: integer, off: integer, total: integer, paths?: string[], streak?: integer }
---@field outcome? loopkeeper.Outcome
---@field branch? string
---@field away? string
---@field weakened? loopkeeper.Weakened[]
---@field keeper { pid?: integer, alive: boolean, stopped?: boolean }

---@class loopkeeper.QuestionStatus
---@field id string
---@field kind "agent"|"usage-limit"|"denied"|"permission"
---@field text string
---@field expiresAt? string

---@class loopkeeper.Weakened
---@field path? string
---@field what string

---@class loopkeeper.SpawnStatus
---@field used integer
---@field budget integer
---@field depth integer
---@field inIteration integer
---@field refused integer
---@field agents? loopkeeper.SubagentStatus[]

---@class loopkeeper.SubagentStatus
---@field id? string
---@field by? string
---@field call? string
---@field what string
---@field depth integer
---@field state "asked"|"started"|"ended"

---@class loopkeeper.BreakerStatus
---@field state "closed"|"open"|"half-open"
---@field reason? string
---@field counts loopkeeper.BreakerCounts
---@field resumesAt? string
---@field trips integer
---@field preset? loopkeeper.Preset

---@class loopkeeper.Preset
---@field name "small"|"large"|"adaptive"
---@field because string

---@class loopkeeper.Group
---@field name string
---@field state "holds"|"open"
---@field passed integer
---@field total integer

---@class loopkeeper.BreakerCounts
---@field noProgress integer
---@field sameError integer
---@field outputDecline integer
---@field permissionDenials integer
---@field oscillation integer
---@field fastFailures integer

---@class loopkeeper.Outcome
---@field kind "completed"|"stopped"|"limit"|"breaker"|"failed"
---@field verified boolean
---@field sentence string
---@field cause? string

---@class loopkeeper.CriteriaStatus
---@field passed integer
---@field failed integer
---@field unverified integer
---@field total integer
---@field summary? string
---@field brief? string
---@field items loopkeeper.CriterionStatus[]

---@class loopkeeper.CriterionStatus
---@field id string
---@field name string
---@field required boolean
---@field role? "goal"|"guard"|"open"
---@field status? "pass"|"fail"|"timed-out"|"could-not-run"|"no-tests-ran"|"unstable"|"unverified"
---@field fact? string
---@field expected? string
---@field actual? string
---@field durationMs integer
---@field regressed boolean
---@field ticked? boolean
---@field stale boolean
---@field place { file: string, start: integer, length: integer }

---@class loopkeeper.LoopsParams
---@field all? boolean

---@class loopkeeper.LoopsResult
---@field loops loopkeeper.LoopStatus[]

---@class loopkeeper.SubscribeParams
---@field loopId string
---@field on boolean

---@class loopkeeper.SubscribeResult
---@field subscribed boolean

---@class loopkeeper.IterationsParams
---@field loopId string
---@field last? integer

---@class loopkeeper.IterationsResult
---@field loopId string
---@field criteria loopkeeper.CriterionRow[]
---@field iterations loopkeeper.IterationEntry[]

---@class loopkeeper.CriterionRow
---@field id string
---@field name string
---@field row string

---@class loopkeeper.IterationEntry
---@field iteration integer
---@field startedAt string
---@field durationMs? integer
---@field costMicros? integer
---@field changed? integer
---@field added? integer
---@field removed? integer
---@field milestones? string[]
---@field commit? string
---@field takenBack? boolean
---@field passed integer
---@field total integer
---@field summary? string

---@class loopkeeper.TranscriptParams
---@field loopId string
---@field after? loopkeeper.TranscriptCursor

---@class loopkeeper.TranscriptCursor
---@field seq integer
---@field iteration integer
---@field offset integer

---@class loopkeeper.TranscriptResult
---@field loopId string
---@field text string
---@field cursor loopkeeper.TranscriptCursor
---@field ended boolean

---@class loopkeeper.StartPreviewParams
---@field task string
---@field agent? string
---@field limits? loopkeeper.StartLimits

---@class loopkeeper.StartPreviewResult
---@field agent string
---@field agents string[]
---@field iterations integer
---@field durationMs integer
---@field costMicros integer
---@field upperBound string
---@field history? string
---@field grade? string
---@field problem? string

---@class loopkeeper.TrustPageParams
---@field task string

---@class loopkeeper.TrustPageResult
---@field hash string
---@field trusted boolean
---@field commands loopkeeper.TrustCommand[]
---@field text string

---@class loopkeeper.TrustCommand
---@field kind string
---@field title string
---@field lines string[]
---@field trusted boolean

---@class loopkeeper.StartArgs
---@field task string
---@field agent? string
---@field limits? loopkeeper.StartLimits
---@field anyway? boolean
---@field continues? string

---@class loopkeeper.StartLimits
---@field iterations? integer
---@field duration? string
---@field costUsd? number

---@class loopkeeper.StopArgs
---@field loopId string
---@field now? boolean

---@class loopkeeper.LoopArgs
---@field loopId string

---@class loopkeeper.ResumeArgs
---@field loopId string
---@field anyway? boolean
---@field more? integer

---@class loopkeeper.FeedbackArgs
---@field loopId string
---@field verdict "tooEarly"|"right"|"tooLate"
---@field text? string

---@class loopkeeper.CheckArgs
---@field task string
---@field criterion? string

---@class loopkeeper.CancelChecksArgs
---@field task string

---@class loopkeeper.OutputArgs
---@field task string
---@field criterion? string
---@field iteration? integer
---@field show? boolean

---@class loopkeeper.SteerArgs
---@field loopId string
---@field text string

---@class loopkeeper.AnswerArgs
---@field loopId string
---@field text? string
---@field question? string

---@class loopkeeper.RollbackArgs
---@field loopId string
---@field iteration integer
---@field paths? string[]
---@field preview? boolean

---@class loopkeeper.UndoRollbackArgs
---@field loopId string
---@field preview? boolean

---@class loopkeeper.DiffArgs
---@field loopId string
---@field iteration? integer

---@class loopkeeper.SkipArgs
---@field task string
---@field item string

---@class loopkeeper.PrioritizeArgs
---@field task string
---@field item string
---@field by integer

---@class loopkeeper.TrustArgs
---@field task string
---@field hash? string

---@class loopkeeper.UntrustArgs
---@field task string

---@class loopkeeper.ImportArgs
---@field file? string
---@field text? string
---@field folder? string

---@class loopkeeper.NewTaskArgs
---@field folder string
---@field sentence string
---@field kind? "code"|"writing"|"research"

---@class loopkeeper.CommandResult
---@field status? loopkeeper.StatusParams
---@field loopId? string
---@field uri? string
---@field written? integer
---@field removed? integer
---@field refused? loopkeeper.RefusedPath[]
---@field edited? string[]
---@field effect? string
---@field patch? string
---@field files? loopkeeper.ChangedFile[]
---@field saved? boolean
---@field document? string

---@class loopkeeper.RefusedPath
---@field path string
---@field why string

---@class loopkeeper.ChangedFile
---@field path string
---@field kind "added"|"changed"|"removed"
---@field before? string
---@field after? string

---@class loopkeeper.RefusalData
---@field code "untrusted"|"unsaved"|"treeBusy"|"noTask"|"agentMissing"|"conflict"|"unsupported"|"badArgument"
---@field task? string
---@field hash? string
---@field count? integer
---@field asked? boolean
---@field uri? string
---@field holder? string
---@field line? integer
---@field commands? loopkeeper.HintCommand[]

return M
