import fc from 'fast-check'
import { explain } from './explain.ts'
import { type Answer, type Button, buttons, type Event, type Forgery, isOpen, type ModelRequest, mayAsk } from './request-model.ts'
import type { OpenForm, Press, Session } from './session.ts'
import { fewest, type Group, groupIds, guest, ids, movers, type Name, names, stranger } from './staff.ts'
import { checkWrites, fits, type Model } from './story.ts'

export type Command = fc.AsyncCommand<Model, Session>

/** Somebody, or several at once, ask for the same thing. */
export function ask(kind: ModelRequest['kind'], number: number, askers: Name[]): Command {
  return {
    check: () => true,
    toString: () => `ask(${askers.join(' + ')}: ${kind} #${number})`,
    async run(model, session) {
      for (const request of model.requests) if (request.resource === session.wish(kind, number).resource) await settleDown(session, request)
      const { resource, words, isPossible } = session.wish(kind, number)
      const before = new Set((await session.records.all()).map(({ id }) => id))
      const answers = await Promise.all(askers.map((asker, index) => session.ask(asker, words, index)))
      const created = (await session.records.all()).filter(({ id }) => !before.has(id))

      const allowed = askers.filter((asker) => asker !== guest && asker !== stranger && mayAsk(kind, asker))
      if (created.length !== (isFree(model, resource) && isPossible && allowed.length > 0 ? 1 : 0))
        throw new Error(`${created.length} requests from ${answers.join(' / ')}`)
      const [record] = created
      const by = allowed.find((asker) => ids[asker] === record?.origin.userId)
      for (const [index, asker] of askers.entries()) {
        const said = answers[index]
        if (asker !== stranger && !isFitting(asker, said ?? '')) throw new Error(`${asker} asked and was told: ${said}`)
        if (asker !== stranger && !allowed.includes(asker)) model.refusals[asker] = (model.refusals[asker] ?? 0) + 1
      }
      if (record && by) keep(model, { id: record.id, kind, resource, by })

      function isFitting(asker: Name, said: string): boolean {
        if (asker === guest) return said.startsWith('Guests may not')
        if (!allowed.includes(asker)) return said.startsWith('You are not among the people who may ask')
        // A worker may be about to post the card already.
        const isYes = /^(Asked for|Recorded)\./.test(said)
        return asker === by ? isYes : said !== '' && !isYes
      }
    },
  }
}

/** What is pressed, before it is known on which request. */
type PlannedPress = Omit<Press, 'person'> & { person: Name | 'requester' }

interface PressOptions {
  /** One in this state, where there is one. */
  prefer: ModelRequest['state'] | undefined
  /** First waits until what was approved is as far as it gets. */
  settled: boolean
  timePasses: boolean
  /** The forms that open are submitted, and not closed. */
  submits: boolean
}

/** One or several clicks on one request at the same moment, with its time running out or not, and then the forms that have opened. */
export function press(number: number, planned: PlannedPress[], how: PressOptions): Command {
  return {
    check: ({ requests }) => requests.length > 0,
    toString: () => {
      const clicks = planned.map(
        ({ person, button, forged, again }) => `${person} ${button}${forged ? ` (${forged})` : ''}${again ? ' (twice)' : ''}`,
      )
      return `press(#${number}: ${clicks.join(' + ')}${how.timePasses ? ' + time passes' : ''})`
    },
    async run(model, session) {
      const request = pick(model, number, how.prefer)
      if (how.settled) await settleDown(session, request)
      const timePasses = how.timePasses && request.state === 'waiting'
      if (timePasses) await letTimePass(session, request)

      const presses = planned.map((one): Press => ({ ...one, person: one.person === 'requester' ? request.by : one.person }))
      const record = await session.records.find(request.id)
      const { answers, forms } = await session.press(record, presses)
      const events = presses.map(({ person, button, forged }): Event => ({ person, does: button, forged }))
      await compare(model, session, request, events, answers, timePasses)

      const submitted = forms.filter(({ answer }) => how.submits && answer !== 'form:again')
      const again = forms.find(({ answer }) => how.submits && answer === 'form:again')
      await session.closeForms(forms.filter((form) => !submitted.includes(form) && form !== again))
      if (submitted.length > 0)
        await compare(model, session, request, submitted.map(submission), await session.submit(submitted), timePasses)
      if (timePasses) {
        await expect(session, request, ({ state }) => state !== 'waiting', 'a request whose time is over still waits')
        await compare(model, session, request, [], {}, true)
      }
      if (again) await askAgain(model, session, request, again)
      await checkWrites(session, model)
    },
  }
}

/** The same once more, which is a request of its own. */
async function askAgain(model: Model, session: Session, { id, resource, kind }: ModelRequest, form: OpenForm): Promise<void> {
  for (const request of model.requests) if (request.resource === resource) await settleDown(session, request)
  const record = await session.records.find(id)
  const before = await session.records.all()
  const isWanted = isFree(model, resource) && session.isStillPossible(record)
  const isTaken = await session.submitAgain(form, before.length)
  const created = (await session.records.all()).find((one) => before.every((other) => other.id !== one.id))
  if (isTaken !== isWanted || isTaken !== (created !== undefined)) {
    throw new Error(`${form.person} asked again, which ${isWanted ? 'is possible' : 'is not'}, and it was ${isTaken ? '' : 'not '}taken`)
  }
  if (created) keep(model, { id: created.id, kind, resource, by: form.person })
}

function isFree({ requests }: Model, resource: string): boolean {
  return !requests.some((request) => request.resource === resource && isOpen(request))
}

function keep(model: Model, asked: Pick<ModelRequest, 'id' | 'kind' | 'resource' | 'by'>): void {
  for (const request of model.requests) if (request.resource === asked.resource) request.isTakenOver = true
  model.requests.push({ ...asked, state: 'waiting', approvals: [], decidedBy: undefined, isOver: false, isTakenOver: false })
}

function submission({ person, answer }: OpenForm): Event {
  return { person, does: answer === 'form:reject' ? 'submit-reject' : 'submit-break-glass' }
}

/** Finds the order of events that explains what was seen, and goes on from there. Throws where there is none. */
async function compare(
  model: Model,
  session: Session,
  request: ModelRequest,
  events: Event[],
  answers: Record<string, Answer[]>,
  timePasses: boolean,
): Promise<void> {
  const record = await session.records.find(request.id)
  const next = explain(request, events, model.members, { answers, fits: (now) => fits(record, now) }, timePasses)
  if (!next) {
    const { state, approvals, decision } = record
    const what = {
      before: request,
      members: model.members,
      events,
      answers,
      after: { state, approvals: approvals.map(({ by }) => by), decision },
    }
    throw new Error(`no order of these clicks explains what came of them: ${JSON.stringify(what, null, 1)}`)
  }
  Object.assign(request, next)
  for (const answer of Object.values(answers).flat()) model.seen[answer] = (model.seen[answer] ?? 0) + 1
  for (const [person, said] of Object.entries(answers)) {
    const refused = said.filter((answer) => answer.startsWith('denied:') || answer === 'forged' || answer === 'stale')
    model.refusals[person] = (model.refusals[person] ?? 0) + refused.length
  }
}

/** Its time is over within milliseconds, by Redis' clock. */
async function letTimePass({ records }: Session, request: ModelRequest): Promise<void> {
  const { expiresAt } = await records.find(request.id)
  await records.letPass(request.id, expiresAt - (await records.store.now()) - 15)
}

/** A move arrives. */
export function arrive(number: number): Command {
  return {
    check: ({ requests }) => requests.some(({ kind }) => kind === 'ip.move'),
    toString: () => `arrive(#${number})`,
    async run(model, session) {
      const moves = model.requests.filter(({ kind }) => kind === 'ip.move')
      const request = moves[number % moves.length]
      const elasticIpId = request?.resource.split(':')[1] ?? ''
      if (!request || session.accountApi.world.elasticIp(elasticIpId)?.status !== 'moving') return
      for (const one of moves) if (one.resource === request.resource) await settleDown(session, one)
      session.accountApi.world.endMove(elasticIpId)
      for (const one of moves) if (one.resource === request.resource && one.state === 'following') await settleDown(session, one)
    },
  }
}

/** Waits until what was approved is as far as it gets by itself: not to be left alone is part of the bargain. */
async function settleDown(session: Session, request: ModelRequest): Promise<void> {
  if (request.state !== 'started' && request.state !== 'following') return
  const elasticIpId = request.resource.split(':')[1] ?? ''
  const isUnderWay = () => request.kind === 'ip.move' && session.accountApi.world.elasticIp(elasticIpId)?.status === 'moving'
  await expect(
    session,
    request,
    ({ state }) => (state === 'following' && isUnderWay()) || state === 'done',
    'a request that was approved is left alone',
  )
  const { state } = await session.records.find(request.id)
  request.state = state === 'done' ? 'done' : 'following'
}

async function expect(
  { records }: Session,
  { id }: ModelRequest,
  fit: (record: Awaited<ReturnType<Session['records']['find']>>) => boolean,
  fault: string,
): Promise<void> {
  const until = Date.now() + 12_000
  for (let record = await records.find(id); !fit(record); record = await records.find(id)) {
    const isStuck = !['waiting', 'approved', 'starting', 'following'].includes(record.state)
    if (isStuck || Date.now() > until) throw new Error(`${fault}: ${JSON.stringify(record)}, due in ${await dueInMs(records, id)} ms`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function dueInMs({ redis, keys, store }: Session['records'], id: string): Promise<number> {
  return Number(await redis.zscore(keys.due, id)) - (await store.now())
}

/** Somebody joins a group of approvers, or leaves it. */
export function change(group: Group, person: Name): Command {
  return {
    check: ({ members }) => !members[group].includes(person) || members[group].length > fewest[group],
    toString: () => `change(${person} ↔ ${group})`,
    async run({ members }, { slack }) {
      members[group] = members[group].includes(person) ? members[group].filter((name) => name !== person) : [...members[group], person]
      slack.setUserGroup(groupIds[group], { members: members[group].map((name) => ids[name]) })
    },
  }
}

/** Newer ones rather than older ones: they are more alive. */
function pick({ requests }: Model, number: number, prefer: PressOptions['prefer']): ModelRequest {
  const preferred = requests.filter(({ state }) => state === prefer || (prefer === 'following' && state === 'started'))
  const among = preferred.length > 0 ? preferred : requests
  const found = among.at(-1 - (number % Math.min(among.length, 4)))
  if (!found) throw new Error('there is no request')
  return found
}

const anybody = fc.constantFrom(...names)
/** Those who matter more often. */
const somebody = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Name>('ada', 'ben', 'chiara', 'finn', 'gita') },
  { weight: 2, arbitrary: anybody },
)
const someButton = fc.oneof<[fc.WeightedArbitrary<Button>, fc.WeightedArbitrary<Button>]>(
  { weight: 2, arbitrary: fc.constant('approve') },
  { weight: 3, arbitrary: fc.constantFrom(...buttons) },
)
const someForgery = fc.oneof<[fc.WeightedArbitrary<undefined>, fc.WeightedArbitrary<Forgery>]>(
  { weight: 9, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom('hash', 'id', 'copy') },
)
const onePress: fc.Arbitrary<PlannedPress> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ person: somebody, button: someButton, forged: someForgery, replica: fc.nat(1), again: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ person: fc.constant('requester'), button: fc.constantFrom(...buttons), replica: fc.nat(1) }) },
)
/** Several people at once, one who presses twice, or several who approve. */
const somePresses = fc.oneof(
  fc.array(onePress, { minLength: 1, maxLength: 4 }),
  onePress.map((one): PlannedPress[] => [one, { ...one, replica: one.replica + 1 }]),
  fc
    .uniqueArray(somebody, { minLength: 2, maxLength: 4 })
    .map((people) => people.map((person, replica): PlannedPress => ({ person, button: 'approve', replica }))),
)
const someOptions: fc.Arbitrary<PressOptions> = fc.record({
  prefer: fc.constantFrom('waiting', 'waiting', 'following', 'unwatched', undefined),
  settled: fc.boolean(),
  timePasses: fc.nat(9).map((one) => one === 0),
  submits: fc.boolean(),
})
const someKind = fc.constantFrom<ModelRequest['kind']>('ip.move', 'vm.rename')

export const commands = [
  fc
    .tuple(someKind, fc.nat(3), fc.uniqueArray(anybody, { minLength: 1, maxLength: 3 }))
    .map(([kind, number, askers]) => ask(kind, number, askers)),
  ...Array.from({ length: 4 }, () =>
    fc.tuple(fc.nat(20), somePresses, someOptions).map(([number, presses, how]) => press(number, presses, how)),
  ),
  fc.nat(20).map(arrive),
  fc.tuple(fc.constantFrom<Group>('oncall', 'security'), fc.constantFrom(...movers)).map(([group, person]) => change(group, person)),
]
