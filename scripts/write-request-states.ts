import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isOpen, type RequestState, requestStates } from '../src/domain/request.ts'
import { type ReportName, type Step, type StepName, stateAfter, stepOf, steps, type Taker } from '../src/requests/steps.ts'

export const requestStatesPath = join(import.meta.dirname, '../docs/request-states.md')
export const requestStatesPicturePath = join(import.meta.dirname, '../docs/pictures/request-states.svg')

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
  voided: 'Nothing was done: the account changed between the request and the write, or another change of the same thing started before it.',
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
  'escalation-1': 'first escalation',
  'escalation-2': 'second escalation',
  'escalation-3': 'third escalation',
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
    'The states of a request and every step between them, generated from [`src/requests/steps.ts`](../src/requests/steps.ts) with `npm run docs:states`.',
    `![${pictureInWords}](pictures/request-states.svg)`,
    notDrawn(),
    '## States',
    'An open request holds its resource: nobody can request another change of the same thing. One that is scheduled or held only keeps others from being scheduled. It ends with `give-way` when another one starts, as does one that is undecided.',
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

const colours = `
  .paper { fill: #fff } .band { fill: #f3f4f6 } .line { stroke: #6b7280 } .tip { fill: #6b7280 } text { fill: #1f2937 } .soft { fill: #4b5563 }
  .main { fill: #dbeafe; stroke: #1d4ed8 } .done { fill: #bbf7d0; stroke: #15803d } .end { fill: #fff; stroke: #9ca3af }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } .band { fill: #1b222c } .line { stroke: #9ca3af } .tip { fill: #9ca3af } text { fill: #e5e7eb } .soft { fill: #b6bdc7 }
    .main { fill: #1e3a6e; stroke: #7aa7ff } .done { fill: #14532d; stroke: #4ade80 } .end { fill: #0d1117; stroke: #6b7280 }
  }`

/** In pixels. Narrow, so that the words stay legible on a phone. */
const size = { width: 580, row: 128, words: 24, box: 56, chip: 34 }

/** Draws the states of the main path, one below the other, with the other ends of each beside it. */
export function requestStatesPicture(): string {
  const isSent = (row: number) => mainStates.slice(0, row).some((state) => stampsOf(mainPath[state]).includes('sentAt'))
  // Each band has its words above its first row.
  const middle = (row: number) => (isSent(row) ? 2 : 1) * size.words + row * size.row + size.row / 2
  const band = (words: string, rows: number[]) => [
    `<rect class="band" x="8" y="${middle(rows[0] ?? 0) - 52 - size.words}" width="${size.width - 16}" height="${rows.length * size.row - 20 + size.words}" rx="10"/>`,
    `<text class="soft" x="${size.width - 26}" y="${middle(rows[0] ?? 0) - 52}" text-anchor="end" font-size="15">${words}</text>`,
  ]
  const rows = mainStates.slice(0, -1).map((_, row) => row)
  const unsent = rows.filter((row) => !isSent(row))
  const sent = rows.filter(isSent)
  const drawn = mainStates.flatMap((state, row) => {
    const y = middle(row)
    const step = mainPath[state]
    const ends = endsOf(state)
    const chips = ends.flatMap((end, index) => {
      const [x, at] = [252 + (index % 2) * 158, y + (Math.floor(index / 2) - (Math.ceil(ends.length / 2) - 1) / 2) * (size.chip + 8)]
      return box('end', end, { x, y: at, width: 146, height: size.chip, font: 16 })
    })
    return [
      ...(ends.length > 0 ? [arrow(212, y, 246, y)] : []),
      ...chips,
      ...box(state === 'done' ? 'done' : 'main', state, { x: 24, y, width: 188, height: size.box, font: 21 }),
      ...(step === undefined ? [] : [arrow(118, y + size.box / 2, 118, middle(row + 1) - size.box / 2 - 2), label(stepOf(step).what, y)]),
    ]
  })
  const height = middle(mainStates.length - 1) + size.box
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${height}" role="img" font-family="system-ui, sans-serif">`,
    `<title>${pictureInWords}</title>`,
    `<style>${colours}\n</style>`,
    `<rect class="paper" width="${size.width}" height="${height}" rx="12"/>`,
    ...band('Nothing is sent yet', unsent),
    ...band('Sent: it may take effect', sent),
    ...drawn,
    '</svg>\n',
  ].join('\n')
}

const pictureInWords = `The main path of a request: ${mainStates.join(', ')}. Beside each state are the other ends that can follow it.`

function stampsOf(step: StepName | undefined): readonly string[] {
  return step === undefined ? [] : (stepOf(step).stamps ?? [])
}

function endsOf(state: RequestState): RequestState[] {
  return [...nextStates(state).keys()].filter((next) => !isOpen(next) && next !== 'done')
}

interface Place {
  x: number
  y: number
  width: number
  height: number
  font: number
}

function box(kind: string, words: string, { x, y, width, height, font }: Place): string[] {
  return [
    `<rect class="${kind}" x="${x}" y="${y - height / 2}" width="${width}" height="${height}" rx="8" stroke-width="${kind === 'end' ? 1 : 2}"/>`,
    `<text x="${x + width / 2}" y="${y + font / 3}" text-anchor="middle" font-size="${font}"${kind === 'end' ? '' : ' font-weight="600"'}>${words}</text>`,
  ]
}

function arrow(x1: number, y1: number, x2: number, y2: number): string {
  const tip = x1 === x2 ? `${x2 - 5},${y2 - 8} ${x2 + 5},${y2 - 8}` : `${x2 - 8},${y2 - 5} ${x2 - 8},${y2 + 5}`
  return `<line class="line" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke-width="2"/><polygon class="tip" points="${x2},${y2} ${tip}"/>`
}

function label(words: string, y: number): string {
  return `<text class="soft" x="132" y="${y + size.row / 2 + 5}" font-size="15">${words}</text>`
}

/** The ways that skip a state or lead back, which would hide the main path in the picture. */
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

if (process.argv[1] === import.meta.filename) {
  writeFileSync(requestStatesPath, requestStatesPage())
  writeFileSync(requestStatesPicturePath, requestStatesPicture())
}
