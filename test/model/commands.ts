import type fc from 'fast-check'
import { meaningOf } from './answers.ts'
import { compare } from './compare.ts'
import type { ArmedFault, Fault } from './replicas.ts'
import { type Event, isOpen, type ModelRequest, mayRequest } from './request-model.ts'
import type { OpenForm, Press, Session } from './session.ts'
import { fewest, type Group, groupIds, guest, ids, type Name, stranger } from './staff.ts'
import { checkWrites, type Model } from './story.ts'
import { letTimePass, settleDown, timeLeftMs, untilRecord } from './waiting.ts'

export type Command = fc.AsyncCommand<Model, Session>

export function requestChange(kind: ModelRequest['kind'], number: number, requesters: Name[], fault?: Fault): Command {
  return {
    check: () => true,
    toString: () => `requestChange(${requesters.join(' + ')}: ${kind} #${number}${wordsFor(fault)})`,
    async run(model, session) {
      for (const request of model.requests)
        if (request.resource === session.possibleChange(kind, number).resource) await settleDown(session, request)
      const { resource, words, isPossible } = session.possibleChange(kind, number)
      const before = new Set((await session.records.all()).map(({ id }) => id))
      // The record, and then the card.
      const armed = arm(model, session, fault, [resource, ':outbox'])
      const answers = await Promise.all(requesters.map((requester, index) => session.requestChange(requester, words, index)))
      const isHit = (index: number) => armed?.fired() === true && index % 2 === fault?.replica
      await mend(model, fault, armed)
      const created = (await session.records.all()).filter(({ id }) => !before.has(id))

      const allowed = requesters.filter((requester) => requester !== guest && requester !== stranger && mayRequest(kind, requester))
      const isWanted = isFree(model, resource) && isPossible && allowed.length > 0
      // If a possible change led to no request, each person got the answer that they may not request it, or that Redis is away.
      const mayBeNone = !isWanted || requesters.every((requester, index) => !allowed.includes(requester) || isUnsure(index))
      if (created.length > (isWanted ? 1 : 0) || (created.length === 0 && !mayBeNone))
        throw new Error(`${created.length} requests from ${answers.join(' / ')}`)
      const [record] = created
      const by = allowed.find((requester) => ids[requester] === record?.origin.userId)
      if (record && !by) throw new Error(`a request of ${record.origin.userId}, who did not request it, or may not`)
      for (const [index, requester] of requesters.entries()) {
        const said = answers[index]
        if (requester !== stranger && !isUnsure(index) && !isFitting(requester, said ?? ''))
          throw new Error(`${requester} requested it and was answered: ${said}`)
        if (requester === stranger || allowed.includes(requester) || isUnsure(index)) continue
        model.refusals[requester] = (model.refusals[requester] ?? 0) + 1
        if (isHit(index)) model.unsure[requester] = (model.unsure[requester] ?? 0) + 1
      }
      if (record && by) {
        keep(model, { id: record.id, kind, resource, by })
        await untilRecord(session, record, ({ cardTs }) => cardTs !== undefined, 'a request was recorded, and its card is not posted')
      }

      function isUnsure(index: number): boolean {
        return isHit(index) && saysRedisIsAway(answers[index] ?? '')
      }

      function isFitting(requester: Name, said: string): boolean {
        if (requester === guest) return said.startsWith("Guests can't")
        if (!allowed.includes(requester)) return said.endsWith('can request this here.')
        // A worker may be posting the card already.
        const isYes = said === '' || said.startsWith('Recorded: ')
        return requester === by ? isYes : !isYes && !saysRedisIsAway(said)
      }
    },
  }
}

function saysRedisIsAway(said: string): boolean {
  return said.startsWith("Lockkeeper's database (Redis)") && meaningOf(said) === 'redis away'
}

function wordsFor(fault: Fault | undefined): string {
  return fault ? `, ${fault.is} at ${fault.replica} after ${fault.before}` : ''
}

/** Arms the fault for an exchange with Redis that names one of these. A crash may lose what is being sent. */
function arm(model: Model, session: Session, fault: Fault | undefined, names: string[]): ArmedFault | undefined {
  if (fault?.is === 'crash') for (const request of model.requests) if (request.state === 'started') request.mayBeLost = true
  return fault && session.arm(fault, names)
}

/** Waits for two whole replicas again, and counts the effect of the fault. */
async function mend(model: Model, fault: Fault | undefined, armed: ArmedFault | undefined): Promise<void> {
  await armed?.mend()
  if (fault?.is === 'crash') model.faults.crashes += 1
  if (fault?.is === 'crash' && armed?.fired()) model.faults.inTheMiddle += 1
  if (fault?.is === 'lose' && armed?.fired()) model.faults.lost += 1
}

/** A press before its request is chosen. */
export type PlannedPress = Omit<Press, 'person'> & { person: Name | 'requester' }

export interface PressOptions {
  prefer: ModelRequest['state'] | undefined
  /** Waits first until an approved request is as far as it gets by itself. */
  settled: boolean
  timePasses: boolean
  /** Submits the forms that open, instead of closing them. */
  submits: boolean
}

/** One or several clicks on one request at the same moment, optionally with its deadline passing, and then the forms that opened. */
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
      // A request that is about to expire by itself expires here.
      const timePasses = request.state === 'waiting' && (how.timePasses || (await timeLeftMs(session, request)) < 15_000)
      if (timePasses) await letTimePass(session, request)

      // The model cannot predict who gets an answer twice if the replicas disagree on the order, so repeats are left out.
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

      // A form that stays open although it has become useless leads to nothing that other commands do not try.
      const isOfUse = ({ person, answer }: OpenForm) =>
        answer === 'form:again'
          ? mayRequest(request.kind, person)
          : answer !== 'form:approve' && events.every((event) => event.person !== person || !event.forged)
      const useful = forms.filter((form) => how.submits && isOfUse(form))
      const submitted = useful.filter(({ answer }) => answer !== 'form:again')
      const again = useful.find(({ answer }) => answer === 'form:again')
      await session.closeForms(forms.filter((form) => !submitted.includes(form) && form !== again))
      if (submitted.length > 0) {
        const submitAnswers = await session.submit(submitted)
        const submissions = submitted.map((form, replica): Event => ({ ...submission(form), isHit: isHit(replica) }))
        await compare(model, session, request, submissions, submitAnswers, timePasses)
      }
      // The fault may still happen while the request is executed.
      if (fault && !armed?.fired()) await settleDown(session, request)
      await mend(model, fault, armed)
      if (timePasses) {
        await untilRecord(session, request, ({ state }) => state !== 'waiting', 'a request whose time is over still waits')
        await compare(model, session, request, [], {}, true)
      }
      if (again) await requestAgain(model, session, request, again)
      await checkWrites(session, model)
    },
  }
}

/** Requests the same change again, as a new request. */
async function requestAgain(model: Model, session: Session, { id, resource, kind }: ModelRequest, form: OpenForm): Promise<void> {
  for (const request of model.requests) if (request.resource === resource) await settleDown(session, request)
  const record = await session.records.find(id)
  const before = await session.records.all()
  const isWanted = isFree(model, resource) && session.isStillPossible(record)
  const isTaken = await session.submitAgain(form, before.length)
  const created = (await session.records.all()).find((one) => before.every((other) => other.id !== one.id))
  if (isTaken !== isWanted || isTaken !== (created !== undefined)) {
    throw new Error(
      `${form.person} requested it again, which ${isWanted ? 'is possible' : 'is not'}, and it was ${isTaken ? '' : 'not '}taken`,
    )
  }
  if (created) keep(model, { id: created.id, kind, resource, by: form.person })
}

function isFree({ requests }: Model, resource: string): boolean {
  return !requests.some((request) => request.resource === resource && isOpen(request))
}

function keep(model: Model, requested: Pick<ModelRequest, 'id' | 'kind' | 'resource' | 'by'>): void {
  for (const request of model.requests) if (request.resource === requested.resource) request.isTakenOver = true
  model.requests.push({
    ...requested,
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

export function change(group: Group, person: Name): Command {
  return {
    check: ({ members }) => !members[group].includes(person) || members[group].length > fewest[group],
    toString: () => `change(${person} ↔ ${group})`,
    async run({ members }, { slack }) {
      const joins = !members[group].includes(person)
      members[group] = joins ? [...members[group], person] : members[group].filter((name) => name !== person)
      members[joins ? 'joined' : 'left'].push(person)
      slack.setUserGroup(groupIds[group], { members: members[group].map((name) => ids[name]) })
    },
  }
}

/** Prefers newer requests, because more of them are open. */
function pick({ requests }: Model, number: number, prefer: PressOptions['prefer']): ModelRequest {
  const preferred = requests.filter(({ state }) => state === prefer || (prefer === 'tracking' && state === 'started'))
  const among = preferred.length > 0 ? preferred : requests
  const found = among.at(-1 - (number % Math.min(among.length, 4)))
  if (!found) throw new Error('there is no request')
  return found
}
