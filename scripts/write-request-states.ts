import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isOpen, type RequestState, requestStates } from '../src/domain/request.ts'
import { type ReportName, type Step, type StepName, stateAfter, stepOf, steps, type Taker } from '../src/record/steps.ts'

export const requestStatesPath = join(import.meta.dirname, '../docs/request-states.md')

const meanings: Record<RequestState, string> = {
  waiting: 'It waits for approval, or for its request message where the rule needs no approval.',
  approved: 'It is approved, and nothing was sent yet. It may be scheduled, or held by a window or a freeze.',
  starting: 'The write may have been sent, and its answer is not known yet.',
  tracking: 'The account API accepted the change, or its children are being sent. Lockkeeper tracks it until it ends.',
  done: 'The account shows the change as done.',
  failed: 'The account API refused the change, or the change failed.',
  'not-started': 'The write was not sent, or it had no effect.',
  superseded: 'Another change overtook it.',
  untracked: 'Somebody stopped the tracking, or the record could not be verified any more, so its end is not known.',
  voided: 'Nothing was done: the account changed between the request and the write.',
  rejected: 'An approver rejected it.',
  withdrawn: 'The requester withdrew it, or the alert that requested it resolved.',
  expired: 'Its deadline passed before it was approved, or before its secret was issued.',
}

const takers: Record<Taker, string> = {
  requester: 'requester',
  approver: 'approver',
  worker: 'Lockkeeper',
  web: 'Lockkeeper',
  alert: 'alert',
}

const reports: Record<ReportName, string> = {
  'reminder-half': 'first reminder',
  'reminder-last': 'last reminder',
  escalation: 'escalation',
  'break-glass': 'emergency approval',
  approved: 'approval, for the requester who takes the secret',
  'handover-half': 'first reminder of the requester',
  'handover-last': 'last reminder of the requester',
  remark: 'what is unexpected on the account',
  late: 'slower than usual',
  resolved: 'the alert resolved',
  outdated: 'the message is out of date',
  stopped: 'tracking stopped',
  ended: 'how it ended',
}

const stepNames = Object.keys(steps) as StepName[]
/** Returns the text of docs/request-states.md. */
export function requestStatesPage(): string {
  return [
    '# Request states',
    'The states of a request and every step between them, generated from [`src/record/steps.ts`](../src/record/steps.ts) with `npm run docs:states`.',
    diagram(),
    notDrawn(),
    '## States',
    'An open request holds its resource: nobody can request another change of the same thing.',
    table(['State', 'Meaning', 'Open or ended', 'Next states, with their steps'], requestStates.map(stateRow)),
    '## Steps',
    'Each step is one compare-and-set in Redis, so the first of several wins. *Sets* names the fields that get the current time, by the clock of Redis. *Taken by* says who triggers the step. A click after the deadline triggers `expire`.',
    table(
      ['Step', 'What happens', 'From → to', 'Taken by', 'Sets', 'Message in the thread', 'Only if'],
      stepNames.map((name) => stepRow(name, stepOf(name))),
    ),
    '## Children',
    'A request that changes several resources has a child for each of them: a request of its own, of the kind that changes one, without a message. The step `begin` is followed by their creation, in the state `approved`, under ids that follow from the request and the resource. They take the same steps as any other request. Their request holds the locks, sends a few at a time, and stays `tracking` until all have ended. It is done if all are done, and failed otherwise.',
  ]
    .join('\n\n')
    .concat('\n')
}

/** From the request to the change, each state by the step that leads to the next one. */
const mainPath = { waiting: 'approve', approved: 'send', starting: 'accept', tracking: 'finish', done: undefined } satisfies Partial<
  Record<RequestState, StepName | undefined>
>
const mainStates = Object.keys(mainPath) as (keyof typeof mainPath)[]

/** The main path, with the other ends of each state. */
function diagram(): string {
  const arrows = mainStates.flatMap((state) => {
    const [step, ends] = [mainPath[state], endsOf(state)]
    return [
      ...(step === undefined ? [] : [`  ${state} -- "${stepOf(step).what}" --> ${stateAfter(step, state)}`]),
      ...(ends.length === 0 ? [] : [`  ${state} -.-> other_${state}["${ends.join('<br>')}"]`]),
    ]
  })
  return ['```mermaid', 'flowchart TB', ...arrows, '```'].join('\n')
}

function endsOf(state: RequestState): RequestState[] {
  return [...nextStates(state).keys()].filter((next) => !isOpen(next) && next !== 'done')
}

/** The ways that skip a state or lead back, which would hide the main path. */
function notDrawn(): string {
  const ways = requestStates.flatMap((from) =>
    [...nextStates(from)].flatMap(([to, names]) => {
      const isNext = mainStates.indexOf(to as never) === mainStates.indexOf(from as never) + 1
      const isDrawn = mainStates.includes(from as never) && (isNext || endsOf(from).includes(to))
      return isDrawn ? [] : [`\`${from}\` → \`${to}\` (${listed(names)})`]
    }),
  )
  return `Not drawn: ${ways.join(', ')}, and the steps that keep the state.`
}

/** Returns the states that can follow this one, each with the steps that lead there. */
function nextStates(from: RequestState): Map<RequestState, StepName[]> {
  const leaving = stepNames.filter((name) => stepOf(name).to !== 'same' && stepOf(name).from.includes(from))
  return Map.groupBy(leaving, (name) => stateAfter(name, from))
}

function stateRow(state: RequestState): string[] {
  const next = [...nextStates(state)].map(([to, names]) => `\`${to}\` (${listed(names)})`)
  return [`\`${state}\``, meanings[state], isOpen(state) ? 'open' : 'ended', next.join('<br>') || 'none']
}

function stepRow(name: string, step: Step): string[] {
  const messages = [
    ...(step.reports ?? []).map((report) => reports[report]),
    ...(step.mayReport ?? []).map((report) => `${reports[report]}, if anything`),
  ]
  const guards = [
    ...(step.beforeDeadline ? ['before the deadline'] : []),
    ...(step.ifUnchanged ? ['record unchanged since it was read'] : []),
  ]
  return [
    `\`${name}\``,
    step.what,
    step.to === 'same' ? `${listed(step.from)} (no change)` : `${listed(step.from)} → \`${step.to}\``,
    step.takers.map((taker) => takers[taker]).join(', '),
    listed(step.stamps ?? []),
    messages.join('; '),
    guards.join('; '),
  ]
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}

function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(escapeCell).join(' | ')} |`).join('\n')
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|')
}

if (process.argv[1] === import.meta.filename) writeFileSync(requestStatesPath, requestStatesPage())
