import { describe, expect, onTestFinished, test } from 'vitest'
import type { Finding } from '../../src/domain/change.ts'
import { type Request, requestStates } from '../../src/domain/request.ts'
import type { RequestSignatures } from '../../src/domain/request-signature.ts'
import { buttonValue, type CardButton, cardButtons } from '../../src/messages/button-ids.ts'
import type { StepData } from '../../src/record/store.ts'
import { type PlannedStep, takeSteps } from '../given/take-steps.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { observeHandlers } from './handlers.ts'
import { policyInFile } from './policy-in-file.ts'
import { buttonNames, cardOf, openRecords } from './records.ts'
import { splitSubject } from './subject.ts'
import { general, ops, people, startWorld, type World } from './world.ts'

const finn = 'U0FIN00001'
const ines = 'U0INE00001'

const walkers = {
  requester: people.ada,
  approver: people.ben,
  'approver who has approved': people.chiara,
  'member without rights': finn,
  guest: people.dov,
  stranger: ines,
}
type Walker = keyof typeof walkers

/** They are refused before the request is read, so that one state of it is enough. */
const outsiders: Walker[] = ['guest', 'stranger']

const policy = `
rules:
  - name: names
    changes: vm.rename
    request: [U0ADA00001, S0ONCALL01]
    approve: { any_of: [S0ONCALL01], approvals: 2 }
  - name: everything else
    request: [U0ADA00001, S0ONCALL01]
    approve: [S0ONCALL01]
`

/** Starts a world without a worker, so that only clicks change a request. */
async function startQuietWorld() {
  const world = await startWorld({
    env: { POLICY_FILE: policyInFile(policy), ROLE: 'web', OPS_CHANNEL: ops, OPEN_REQUESTS_PER_PERSON: '1000' },
  })
  const { people: staff, channels } = world.slack.workspace
  staff.push({ id: finn, name: 'Finn Aalto', handle: 'finn' })
  staff.push({ id: ines, name: 'Ines Roth', handle: 'ines', isStranger: true, teamId: 'T0PARTNER1' })
  for (const channel of channels) channel.members.push(finn, ines)
  const records = openRecords(world)
  // Otherwise approved requests would note that no worker is running.
  const beat = () => void records.store.noteWorker('elsewhere').catch(() => {})
  beat()
  const beating = setInterval(beat, 5_000)
  onTestFinished(() => clearInterval(beating))
  return { ...world, records }
}
type QuietWorld = Awaited<ReturnType<typeof startQuietWorld>>

const byChiara = { by: people.chiara, rule: 'everything else', via: 'S0ONCALL01' }
const approved: StepData = {
  set: { decision: byChiara, approvals: [{ ...byChiara, at: 1 }] },
}
const rejection: StepData = { set: { decision: { ...byChiara, reason: 'Not during the sale' } } }
const oneApproval: StepData = { set: { approvals: [{ ...byChiara, rule: 'names', at: 1 }] } }
const because = (cause: Finding): StepData => ({ set: { causes: [cause] } })
const underWay: PlannedStep[] = [['approve', approved], 'send', 'accept']

interface Row {
  state: Request['state']
  kind?: 'vm.rename' | 'key.create'
  steps: PlannedStep[]
  ttlMs?: number
}

/** The states, by the names that people use. Each is reached through the real store. */
const rows: Record<string, Row> = {
  waiting: { state: 'waiting', steps: [] },
  'waiting, with 0 of 2 approvals': { state: 'waiting', kind: 'vm.rename', steps: [] },
  'waiting, with 1 of 2 approvals': { state: 'waiting', kind: 'vm.rename', steps: [['count-approval', oneApproval]] },
  'waiting, and its time is over': { state: 'waiting', steps: [], ttlMs: 1 },
  approved: { state: 'approved', steps: [['approve', approved]] },
  'approved, to be handed over': { state: 'approved', kind: 'key.create', steps: [['approve', { ...approved, extendMs: 3_600_000 }]] },
  starting: { state: 'starting', steps: [['approve', approved], 'send'] },
  tracking: { state: 'tracking', steps: underWay },
  done: { state: 'done', steps: [...underWay, 'finish'] },
  failed: { state: 'failed', steps: [...underWay, ['fail', because({ code: 'status-error', address: '203.0.113.10' })]] },
  'not started': { state: 'not-started', steps: [['approve', approved], 'send', ['not-start', because({ code: 'rule-gone' })]] },
  superseded: {
    state: 'superseded',
    steps: [...underWay, ['supersede', because({ code: 'moved-by-others', address: '203.0.113.10', server: 'web-3', isMoving: false })]],
  },
  'no longer followed': { state: 'untracked', steps: [...underWay, ['stop-tracking', { set: { stoppedBy: people.chiara } }]] },
  void: {
    state: 'voided',
    steps: [
      ['approve', approved],
      ['void', because({ code: 'server-changed', address: '203.0.113.10', now: 'web-3' })],
    ],
  },
  rejected: { state: 'rejected', steps: [['reject', rejection]] },
  withdrawn: { state: 'withdrawn', steps: ['withdraw'] },
  expired: { state: 'expired', steps: ['expire'] },
}
const forgotten = 'forgotten'

/** The states in which somebody presses the buttons. */
function rowsFor(walker: Walker): [name: string, row: Row | undefined][] {
  const all: [string, Row | undefined][] = [...Object.entries(rows), [forgotten, undefined]]
  return outsiders.includes(walker) ? all.slice(0, 1) : all
}

/** Creates a request in the state of a row. */
async function bring(
  { accountApi, records, signatures }: QuietWorld,
  { kind, steps, ttlMs, state }: Row,
  walker: Walker,
): Promise<Request> {
  count += 1
  const planned =
    kind === 'vm.rename'
      ? renaming(accountApi)
      : kind === 'key.create'
        ? newKey()
        : moving(accountApi, state === 'done' ? walker : undefined)
  const request = await records.create({ ...planned, ...(ttlMs ? { ttlMs } : {}) })
  const brought = await takeSteps(records.store, request.id, ...steps.map((step) => withSigned(signatures, request, step)))
  expect(brought.state).toBe(state)
  return brought
}

/** Returns a step with the approvals and the decision that it sets as the bot would have signed them. */
function withSigned({ signApproval, signApproved }: RequestSignatures, request: Request, step: PlannedStep): PlannedStep {
  const [name, data = {}] = typeof step === 'string' ? [step] : step
  const approvals = data.set?.approvals?.map((approval) => signApproval(request, { ...approval, at: request.createdAt }))
  if (!approvals) return step
  const { decision } = data.set ?? {}
  const signed = decision && { decision: signApproved({ ...request, approvals }, { ...decision, at: request.createdAt }) }
  return [name, { ...data, set: { ...data.set, approvals, ...signed } }]
}

let count = 0
const project = { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' }

function renaming({ world }: World['accountApi']) {
  const [machine] = world.data.virtualMachines
  const input = { virtualMachineId: machine?.id ?? '', name: 'search-2' }
  const facts = { virtualMachineId: input.virtualMachineId, oldName: machine?.name, newName: input.name, project }
  return { kind: 'vm.rename' as const, resource: `virtual_machine:${input.virtualMachineId}#${count}`, input, facts }
}

function newKey() {
  const input = { name: `ci-deploy-${count}`, readOnly: true, allowedIps: [] }
  return { kind: 'key.create' as const, resource: `api_key_name:${input.name}`, input, facts: input }
}

/** Returns a move that is requested, or that has arrived. Arrived moves differ by person, so that each person can request the way back. */
function moving({ world }: World['accountApi'], arrivedFor: Walker | undefined) {
  const { elasticIp, target } = world.movable(arrivedFor === undefined ? 0 : Object.keys(walkers).indexOf(arrivedFor))
  const here = { id: elasticIp.serverId ?? '', name: world.server(elasticIp.serverId ?? '')?.hostname ?? '' }
  const there = { id: target.id, name: target.hostname }
  const [from, to] = arrivedFor === undefined ? [here, there] : [there, here]
  const input = { elasticIpId: elasticIp.id, serverId: to.id }
  const facts = { elasticIpId: elasticIp.id, address: elasticIp.address, from, to, project }
  // A made-up request does not hold the Elastic IP, so that a click that requests a change finds it free.
  return { kind: 'ip.move' as const, resource: `elastic_ip:${elasticIp.id}#${count}`, input, facts }
}

/** Presses a button and waits for everything that follows: messages, forms and the new state of the request. */
async function press(
  world: QuietWorld,
  handled: ReturnType<typeof observeHandlers>['handled'],
  userId: string,
  card: Message,
  name: CardButton,
  request?: Request,
) {
  const { slack, records } = world
  const hands = slack.as(userId)
  // On a busy machine the interim message of a slow bot comes first. The answer follows.
  const answers = () => slack.ephemerals(userId).filter(({ text }) => !text.startsWith('Slower than usual'))
  const isAnswered = () => answers().length > 0 || hands.openViews().some(({ title }) => title === refused)

  const { outcome, payload } = await hands.click(card, cardButtons[name])
  expect(outcome).toBe('acknowledged')
  const became = outsiders.some((walker) => walkers[walker] === userId) ? 'refused' : await handled(String(payload.trigger_id))
  if (became === 'refused') await slack.until(isAnswered, { what: `an answer to ${userId}, who pressed ${name}`, timeoutMs: 20_000 })

  const split = answers().map(({ text }) => splitSubject(text))
  const words = split.map((one) => one.words)
  const unnamed = split.filter(({ about }) => about === undefined || !request?.id.startsWith(about)).map((one) => one.words)
  // Remove what was read, so that a message that comes late or twice shows up at the next press.
  for (const { channel, ts } of slack.ephemerals(userId)) slack.removeMessage(channel, ts)
  for (const view of hands.openViews()) {
    words.push(view.title === refused ? wordsIn(view.view) : `opens *${view.title}*`)
    await hands.close(view)
  }
  const now = request && (await records.find(request.id))
  const hasChanged = now !== undefined && now.revision !== request?.revision
  return { words, unnamed, effect: hasChanged ? effectOf(now) : undefined }
}

function wordsIn(view: Record<string, unknown>): string {
  const blocks = view.blocks as { text?: { text: string } }[]
  return blocks.map(({ text }) => text?.text ?? '').join(' ')
}

const refused = 'Not possible'

interface Cell {
  row: string
  walker: Walker
  button: CardButton
  words: string[]
  /** The answers as messages that don't begin with what the request is, and a link to it. */
  unnamed: string[]
  effect: string | undefined
}

test('every button is answered once, for every member and every state of the request, and for outsiders', async () => {
  const world = await startQuietWorld()
  const { observe, handled } = observeHandlers()
  for (const bot of world.bots) observe(bot)
  const cells: Cell[] = []

  async function walk(walker: Walker) {
    for (const [row, how] of rowsFor(walker)) {
      let request = how && (await bring(world, how, walker))
      for (const button of buttonNames) {
        const card = request ? cardOf(request) : cardOf(unknown(await world.records.post(ops, [])))
        const { words, unnamed, effect } = await press(world, handled, walkers[walker], card, button, request)
        cells.push({ row, walker, button, words, unnamed, effect })
        if (how && effect) request = await bring(world, how, walker)
        if (how && effect) world.slack.removeMessage(ops, card.ts)
      }
    }
  }
  await Promise.all((Object.keys(walkers) as Walker[]).map(walk))

  expect(new Set(Object.values(rows).map(({ state }) => state))).toEqual(new Set(requestStates))
  const pressed = (Object.keys(walkers) as Walker[]).flatMap(rowsFor).length
  expect(cells).toHaveLength(pressed * buttonNames.length)
  expect(cells.filter(({ words, effect }) => words.length !== 1 && !(words.length === 0 && effect))).toEqual([])
  expect(Object.values(walkers).flatMap((userId) => world.slack.ephemerals(userId))).toEqual([])
  await expect(sheetOf(cells)).toMatchFileSnapshot('clicks.answers.md')
  expect([...new Set(cells.flatMap(({ unnamed }) => unnamed.map(withoutDetails).map(withoutCount)))].toSorted()).toMatchInlineSnapshot(`
    [
      "*Your new API key ci-deploy* is in this message, only visible to you.",
      "Guests can't use Lockkeeper. Ask a full member.",
      "People from other workspaces can't use Lockkeeper. Ask a full member.",
      "This request is older than 30 days, or Redis lost it, so nothing was done. Run the command again, or see \`/infra audit\`.",
      "shows the details of the request",
    ]
  `)
}, 180_000)

function effectOf(request: Request): string {
  return request.state === 'waiting' ? `${request.approvals.length} of 2 approvals` : `becomes ${request.state}`
}

/** A card whose request is no longer stored. */
function unknown(cardTs: string): Request {
  return { id: '0'.repeat(32), hash: '0'.repeat(64), cardTs } as Request
}

const names: Record<string, string> = { [people.ada]: '@ada', [people.chiara]: '@chiara', S0ONCALL01: '@oncall', [ops]: '#ops' }

function answerOf({ words, effect }: Cell): string {
  const [said = ''] = words
    .map(withoutDetails)
    .map((text) => text.replaceAll(/<[@!#](?:subteam\^)?(\w+)>/g, (_, id) => names[id] ?? id))
    .map(withoutCount)
  return [said, effect && `*${effect}*`].filter(Boolean).join(' ')
}

/** Renders the answer sheet: for each state, who presses what, and the result. People and buttons with one answer share a line. */
function sheetOf(cells: Cell[]): string {
  const everywhere = outsiders.map((walker) => {
    const answers = new Set(cells.filter((cell) => cell.walker === walker).map(answerOf))
    return `- A ${walker}, for every button: ${[...answers].join(' / ')}`
  })
  const states = [...new Set(cells.map(({ row }) => row))].map((row) => {
    const here = cells.filter((cell) => cell.row === row && !outsiders.includes(cell.walker))
    return { row, lines: linesOf(here) }
  })
  const usual = usualLines(states.map(({ lines }) => lines))
  const tableOf = (lines: string[]) => `| who | presses | answer |\n|---|---|---|\n${lines.join('\n')}\n`
  const sections = states.map(({ row, lines }) => `## ${row}\n\n${tableOf(lines.filter((line) => !usual.includes(line)))}`)
  const intro =
    'The answer to a click, generated by `clicks.test.ts`. The new state of the request is in italics. Each answer in a message begins with the request: *Move `203.0.113.10`: web-1 → web-2*  ·  request 80fbcd61.'
  const first = `## what is not listed under a state\n\n${tableOf(usual)}`
  return `# The answer to every click\n\n${intro}\n\n${everywhere.join('\n')}\n\n${first}\n${sections.join('\n')}`
}

/** Returns the lines of most states, of which each person and button has one. */
function usualLines(states: string[][]): string[] {
  const counts = Map.groupBy(states.flat(), (line) => line)
  const often = [...counts].filter(([, same]) => same.length > states.length / 3).toSorted(([, a], [, b]) => b.length - a.length)
  const pairsOf = (line: string) => {
    const [, who = '', buttons = ''] = line.split('|')
    return who.split(',').flatMap((each) => buttons.split(',').map((button) => `${each.trim()} ${button.trim()}`))
  }
  const taken = new Set<string>()
  const usual = often.flatMap(([line]) => {
    const pairs = pairsOf(line)
    if (pairs.some((pair) => taken.has(pair))) return []
    for (const pair of pairs) taken.add(pair)
    return [line]
  })
  return usual.toSorted()
}

function linesOf(cells: Cell[]): string[] {
  const byAnswer = Map.groupBy(cells, answerOf)
  return [...byAnswer]
    .flatMap(([answer, same]) => {
      const buttonsOf = (walker: Walker) =>
        buttonNames.filter((name) => same.some((cell) => cell.walker === walker && cell.button === name)).join(', ')
      const byButtons = Map.groupBy(new Set(same.map(({ walker }) => walker)), buttonsOf)
      return [...byButtons].map(([buttons, who]) => `| ${inOrder(who).join(', ')} | ${buttons} | ${answer} |`)
    })
    .toSorted()
}

function inOrder(who: Walker[]): Walker[] {
  return (Object.keys(walkers) as Walker[]).filter((walker) => who.includes(walker))
}

describe('a button that the bot did not make like this', () => {
  test('is refused with a separate message, changes nothing, and is in the audit', async () => {
    const world = await startQuietWorld()
    const { slack, records, ben } = world
    slack.invite(general)
    const waiting = { state: 'waiting' as const, steps: [] }
    const [request, other] = [await bring(world, waiting, 'requester'), await bring(world, waiting, 'requester')]
    const { id, hash } = request
    const elsewhere = await records.post(general, [])
    const again = await records.post(ops, [])
    const forged: Record<string, Message> = {
      'an edited hash': cardOf(request, { value: buttonValue({ id, hash: '0'.repeat(64) }) }),
      'the hash of another request': cardOf(request, { value: buttonValue({ id, hash: other.hash }) }),
      'the id of another request': cardOf(request, { value: buttonValue({ id: other.id, hash }) }),
      'the whole button of another request': cardOf(request, { value: buttonValue(other) }),
      'no hash': cardOf(request, { value: `1.${id}` }),
      'another version': cardOf(request, { value: buttonValue(request).replace(/^1/, '2') }),
      garbage: cardOf(request, { value: '{"id":"*"}' }),
      nothing: cardOf(request, { value: '' }),
      'copied to another message': cardOf(request, { ts: again }),
      'copied to another channel': cardOf(request, { channel: general, ts: elsewhere }),
    }

    const answers: string[] = []
    for (const [what, card] of Object.entries(forged)) {
      for (const button of ['approve', 'reject', 'again'] as const) {
        const before = slack.ephemerals(people.ben).length
        await ben.click(card, cardButtons[button])
        const said = await slack.until(() => {
          const ephemeral = slack.ephemerals(people.ben)[before]?.text
          return ephemeral ?? (ben.topView().title === refused ? wordsIn(ben.topView().view) : undefined)
        })
        for (const view of ben.openViews()) await ben.close(view)
        answers.push(`${what}: ${said}`)
      }
    }

    const changed = 'This button is of another request, or was changed, so nothing was done. Use the request message.'
    const misplaced = "This button isn't on the request message, so nothing was done. Use that message."
    const isMisplaced = (what: string) => what.startsWith('copied') || what.startsWith('the whole')
    expect([...new Set(answers)]).toEqual(Object.keys(forged).map((what) => `${what}: ${isMisplaced(what) ? misplaced : changed}`))
    expect(await records.find(request.id)).toEqual(request)
    expect(await records.find(other.id)).toEqual(other)
    const entries = (await records.audit()).filter(({ act, by }) => act === 'refused' && by === people.ben)
    const noted = entries.map(({ attempted, causes = [], kind }) => `${attempted} ${causes[0]?.code} ${kind ?? 'without a request'}`)
    const buttons = [cardButtons.approve, cardButtons.reject, cardButtons.again]
    // The two requests have an entry each.
    const why = [
      'foreign-button ip.move',
      'foreign-button ip.move',
      'stale-card ip.move',
      'foreign-button without a request',
      'stale-card ip.move',
    ]
    expect(noted).toEqual(why.flatMap((cause) => buttons.map((button) => `${button} ${cause}`)))
  })
})

describe('a record that somebody has changed in Redis', () => {
  const elsewhere = JSON.stringify({ elasticIpId: 'eip_2BJYBkPZR5x1t', serverId: 'sv_0000000000' })

  test('cannot be approved', async () => {
    const world = await startQuietWorld()
    const { slack, records } = world
    const request = await bring(world, { state: 'waiting', steps: [] }, 'requester')
    await records.redis.hset(records.keys.record(request.id), 'input', elsewhere)

    await world.ben.click(cardOf(request), cardButtons.approve)

    const said = await slack.until(() => slack.ephemerals(people.ben)[0]?.text)
    expect(said).toMatch(/^\*Unverified request .*\nThe record of this request was changed, so nothing was done\./)
    expect(await records.find(request.id)).toMatchObject({ state: 'waiting', approvals: [] })
    expect((await records.audit()).at(-1)).toMatchObject({ act: 'refused', by: people.ben, requestId: request.id })
  })
})

/** The details of a request have its id and its times. */
function withoutCount(text: string): string {
  return text.replaceAll(/ci-deploy-\d+/g, 'ci-deploy')
}

function withoutDetails(text: string): string {
  return /(rule|setting) .+`\w{32}`$/s.test(text) ? 'shows the details of the request' : text
}
