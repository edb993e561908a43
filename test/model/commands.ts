import type fc from 'fast-check'
import { meaningOf } from './answers.ts'
import { compare } from './compare.ts'
import type { ArmedFault, Fault } from './replicas.ts'
import { type Event, isOpen, type ModelRequest, mayAsk } from './request-model.ts'
import type { OpenForm, Press, Session } from './session.ts'
import { fewest, type Group, groupIds, guest, ids, type Name, stranger } from './staff.ts'
import { checkWrites, type Model } from './story.ts'
import { letTimePass, settleDown, timeLeftMs, untilRecord } from './waiting.ts'

export type Command = fc.AsyncCommand<Model, Session>

/** Somebody, or several at once, ask for the same thing. */
export function ask(kind: ModelRequest['kind'], number: number, askers: Name[], fault?: Fault): Command {
  return {
    check: () => true,
    toString: () => `ask(${askers.join(' + ')}: ${kind} #${number}${wordsFor(fault)})`,
    async run(model, session) {
      for (const request of model.requests) if (request.resource === session.wish(kind, number).resource) await settleDown(session, request)
      const { resource, words, isPossible } = session.wish(kind, number)
      const before = new Set((await session.records.all()).map(({ id }) => id))
      // The record, and then the card.
      const armed = arm(model, session, fault, [resource, ':outbox'])
      const answers = await Promise.all(askers.map((asker, index) => session.ask(asker, words, index)))
      const isHit = (index: number) => armed?.fired() === true && index % 2 === fault?.replica
      await mend(model, fault, armed)
      const created = (await session.records.all()).filter(({ id }) => !before.has(id))

      const allowed = askers.filter((asker) => asker !== guest && asker !== stranger && mayAsk(kind, asker))
      const isWanted = isFree(model, resource) && isPossible && allowed.length > 0
      // Where nothing came of what is wanted, each of them was told that it may not have.
      const mayBeNone = !isWanted || askers.every((asker, index) => !allowed.includes(asker) || isUnsure(index))
      if (created.length > (isWanted ? 1 : 0) || (created.length === 0 && !mayBeNone))
        throw new Error(`${created.length} requests from ${answers.join(' / ')}`)
      const [record] = created
      const by = allowed.find((asker) => ids[asker] === record?.origin.userId)
      if (record && !by) throw new Error(`a request of ${record.origin.userId}, who did not ask, or may not`)
      for (const [index, asker] of askers.entries()) {
        const said = answers[index]
        if (asker !== stranger && !isUnsure(index) && !isFitting(asker, said ?? '')) throw new Error(`${asker} asked and was told: ${said}`)
        if (asker === stranger || allowed.includes(asker) || isUnsure(index)) continue
        model.refusals[asker] = (model.refusals[asker] ?? 0) + 1
        if (isHit(index)) model.unsure[asker] = (model.unsure[asker] ?? 0) + 1
      }
      if (record && by) {
        keep(model, { id: record.id, kind, resource, by })
        await untilRecord(session, record, ({ cardTs }) => cardTs !== undefined, 'a request was recorded, and its card is not posted')
      }

      function isUnsure(index: number): boolean {
        return isHit(index) && isMemory(answers[index] ?? '')
      }

      function isFitting(asker: Name, said: string): boolean {
        if (asker === guest) return said.startsWith('Guests may not')
        if (!allowed.includes(asker)) return said.startsWith('You are not among the people who may ask')
        // A worker may be about to post the card already.
        const isYes = /^(Asked for|Recorded)\./.test(said)
        return asker === by ? isYes : said !== '' && !isYes && !isMemory(said)
      }
    },
  }
}

function isMemory(said: string): boolean {
  return said.startsWith('I cannot reach my memory') && meaningOf(said) === 'memory'
}

function wordsFor(fault: Fault | undefined): string {
  return fault ? `, ${fault.is} at ${fault.replica} after ${fault.before}` : ''
}

/** The fault is to come with what is said to Redis about these. What is on its way may be lost in a crash. */
function arm(model: Model, session: Session, fault: Fault | undefined, names: string[]): ArmedFault | undefined {
  if (fault?.is === 'crash') for (const request of model.requests) if (request.state === 'started') request.mayBeLost = true
  return fault && session.arm(fault, names)
}

/** Two whole replicas again, and what came of the fault is counted. */
async function mend(model: Model, fault: Fault | undefined, armed: ArmedFault | undefined): Promise<void> {
  await armed?.mend()
  if (fault?.is === 'crash') model.faults.crashes += 1
  if (fault?.is === 'crash' && armed?.fired()) model.faults.inTheMiddle += 1
  if (fault?.is === 'lose' && armed?.fired()) model.faults.lost += 1
}

/** What is pressed, before it is known on which request. */
export type PlannedPress = Omit<Press, 'person'> & { person: Name | 'requester' }

export interface PressOptions {
  /** One in this state, where there is one. */
  prefer: ModelRequest['state'] | undefined
  /** First waits until what was approved is as far as it gets. */
  settled: boolean
  timePasses: boolean
  /** The forms that open are submitted, and not closed. */
  submits: boolean
}

/** One or several clicks on one request at the same moment, with its time running out or not, and then the forms that have opened. */
export function press(number: number, planned: PlannedPress[], how: PressOptions, fault?: Fault): Command {
  return {
    check: ({ requests }) => requests.length > 0,
    toString: () => {
      const clicks = planned.map(
        ({ person, button, forged, again }) => `${person} ${button}${forged ? ` (${forged})` : ''}${again ? ' (twice)' : ''}`,
      )
      return `press(#${number}: ${clicks.join(' + ')}${how.timePasses ? ' + time passes' : ''}${wordsFor(fault)})`
    },
    async run(model, session) {
      const request = pick(model, number, how.prefer)
      if (how.settled) await settleDown(session, request)
      // What is about to run out by itself is let run out here.
      const timePasses = request.state === 'waiting' && (how.timePasses || (await timeLeftMs(session, request)) < 15_000)
      if (timePasses) await letTimePass(session, request)

      // Who is told what twice, where the replicas cannot agree on what came first, is not for the model to know.
      const presses = planned.map(
        (one): Press => ({ ...one, person: one.person === 'requester' ? request.by : one.person, again: one.again === true && !fault }),
      )
      const record = await session.records.find(request.id)
      const armed = arm(model, session, fault, [request.id])
      if (fault?.is === 'crash') request.mayBeLost = true
      const isHit = (replica: number) => armed?.fired() === true && replica % 2 === fault?.replica
      const { answers, forms } = await session.press(record, presses)
      const events = presses.map(({ person, button, forged, replica }): Event => ({ person, does: button, forged, isHit: isHit(replica) }))
      await compare(model, session, request, events, answers, timePasses)

      // A form that stays open although it is of no use leads to nothing that is not tried elsewhere.
      const isOfUse = ({ person, answer }: OpenForm) =>
        answer === 'form:again' ? mayAsk(request.kind, person) : events.every((event) => event.person !== person || !event.forged)
      const useful = forms.filter((form) => how.submits && isOfUse(form))
      const submitted = useful.filter(({ answer }) => answer !== 'form:again')
      const again = useful.find(({ answer }) => answer === 'form:again')
      await session.closeForms(forms.filter((form) => !submitted.includes(form) && form !== again))
      if (submitted.length > 0) {
        const submitAnswers = await session.submit(submitted)
        const submissions = submitted.map((form, replica): Event => ({ ...submission(form), isHit: isHit(replica) }))
        await compare(model, session, request, submissions, submitAnswers, timePasses)
      }
      // The fault may still come while it is carried out.
      if (fault && !armed?.fired()) await settleDown(session, request)
      await mend(model, fault, armed)
      if (timePasses) {
        await untilRecord(session, request, ({ state }) => state !== 'waiting', 'a request whose time is over still waits')
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
  model.requests.push({
    ...asked,
    state: 'waiting',
    approvals: [],
    decidedBy: undefined,
    isOver: false,
    mayBeLost: false,
    isTakenOver: false,
  })
}

function submission({ person, answer }: OpenForm): Event {
  return { person, does: answer === 'form:reject' ? 'submit-reject' : 'submit-break-glass' }
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
  const preferred = requests.filter(({ state }) => state === prefer || (prefer === 'tracking' && state === 'started'))
  const among = preferred.length > 0 ? preferred : requests
  const found = among.at(-1 - (number % Math.min(among.length, 4)))
  if (!found) throw new Error('there is no request')
  return found
}
