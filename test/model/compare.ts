import { isOpen } from '../../src/domain/request.ts'
import { explain } from './explain.ts'
import type { Answer, Event, ModelRequest } from './request-model.ts'
import type { Session } from './session.ts'
import { fits, type Model } from './story.ts'

/** Finds the order of events that explains what was seen, and continues from there. Throws if there is none. */
export async function compare(
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
  if (events.some(({ does }) => does === 'trackAgain')) await expectOneOpen(session, request)
  Object.assign(request, next)
  for (const answer of Object.values(answers).flat()) model.seen[answer] = (model.seen[answer] ?? 0) + 1
  for (const [person, said] of Object.entries(answers)) {
    const refused = said.filter((answer) => /^(denied|too late):|^(forged|stale|still waiting|duplicate|taken over)$/.test(answer))
    model.refusals[person] = (model.refusals[person] ?? 0) + refused.length
    if (events.some((event) => event.isHit && event.person === person)) model.unsure[person] = (model.unsure[person] ?? 0) + refused.length
  }
}

async function expectOneOpen({ records }: Session, { resource }: ModelRequest): Promise<void> {
  const open = (await records.all()).filter((each) => each.resource === resource && isOpen(each.state)).map(({ id }) => id)
  if (open.length > 1) throw new Error(`several open requests change ${resource}: ${open.join(' ')}`)
}
