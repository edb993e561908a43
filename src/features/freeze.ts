import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { openForm, refuseForm } from '../bolt/open-forms.ts'
import type { Origin } from '../domain/approval.ts'
import { freezesOnAt, freezing, longestReason, visibleReason } from '../domain/policy.ts'
import type { Request } from '../domain/request.ts'
import { isStart, longestAheadMs, readStart } from '../domain/times.ts'
import { withinOr } from '../domain/within.ts'
import type { Feature, OwnAbility } from '../kit/ability.ts'
import { heldByFreeze, wakeHeld } from '../life/send.ts'
import {
  endedFreezeMessage,
  freezeForm,
  freezeFormId,
  freezeMessage,
  freezesOfPolicy,
  frozenWords,
  type HeldTitles,
  notFrozen,
  onlyPlanned,
  policyFreezeWords,
  type TypedFreeze,
  toldOfFreeze,
  toldOfUnfreeze,
  unfreezeButton,
  unfreezeForm,
  unfrozenWords,
} from '../messages/freezes.ts'
import { startExamples, startProblem, tooLongReason, typedLate } from '../messages/submit-words.ts'
import { deliverText, oweText } from '../outbox/notices.ts'
import { isPassing, later, laterAfter, otherVersionRetryMs, passingMs, postOnce } from '../outbox/once.ts'
import { showAgain } from '../outbox/outbox.ts'
import { waitsForPress } from '../outbox/render.ts'
import { type FreezeRecord, freezeMessageId, freezeOnAt, freezeSetAt, freezesSetAt } from '../record/freeze.ts'
import type { Lease, Owed, Settlement } from '../record/owed.ts'
import { guardStore } from '../redis/connect.ts'
import { authorize, refuse } from '../rights/authorize.ts'
import { context, message, notice, reasonIn } from '../slack/blocks.ts'
import type { CommandCall } from '../slack/commands.ts'
import { Refusal } from '../slack/errors.ts'
import type { Answer, Click, Submission, SubmissionAnswer } from '../slack/interactions.ts'
import { readMetadata, untold } from '../slack/payloads.ts'
import { code, joinMrkdwn, type Mrkdwn, mrkdwn } from '../slack/text.ts'
import { isTypedStart } from '../slack/typed-words.ts'

export const freezeChanges: OwnAbility = {
  senders: { freeze: sendFreeze },
  repeated: () => [{ name: 'freezes', everyMs: 30_000, run: announce }],
  create,
}

const usage = '[from <time>] [until <time>] because <reason>'

function create(app: App): Feature {
  return {
    commands: [
      {
        words: 'freeze',
        group: 'Change',
        usage,
        summary: 'Stop changes from starting, for a time or until you lift it',
        details: mrkdwn`Requests can still be made and approved, and what is under way goes on. What it held starts when it ends, in the order of the approvals. Another freeze replaces it, and keeps one that is planned.`,
        examples: [
          'because the network is being rebuilt',
          'until 18:00 because of the sale',
          'from fri 18:00 until mon 08:00 because of the sale',
        ],
        need: freezing,
        isLateTime: (typed, args) => {
          const [late, given] = [spanIn(typed), spanIn(args.join(' '))]
          const times = [late.from, late.until.replace(/^for /i, 'in ')].filter((each) => each !== '')
          return (
            /^(?:from|until|till|for|at|in|today|tonight|tomorrow) /i.test(typed) &&
            times.every(isStart) &&
            !(late.from && given.from) &&
            !(late.until && given.until)
          )
        },
        run: (call) => freeze(app, call),
      },
      {
        words: 'unfreeze',
        group: 'Change',
        usage: '',
        summary: 'Lift the freeze: the changes that it held start',
        takesNoStart: true,
        isLateTime: isTypedStart,
        examples: [],
        need: freezing,
        run: async ({ slashCommand: { origin, reason }, say }) => say(await liftByCommand(app, origin, visibleReason(reason))),
      },
    ],
    clicks: { [unfreezeButton]: (click) => pressUnfreeze(app, click) },
    submissions: {
      [freezeFormId]: (submission) => submitFreeze(app, submission),
      [unfreezeButton]: (submission) => submitUnfreeze(app, submission),
    },
  }
}

function spanIn(words: string): { from: string; until: string } {
  const [, from = '', until = ''] = /^(?:from )?(.*?)(?:(?:^| )(?:until |till |to |(?=for ))(.+))?$/i.exec(words) ?? []
  return { from, until }
}

/** Without a reason, and with a time after it, the command opens the form, with what was typed. */
async function freeze(app: App, { slashCommand, args }: CommandCall): Promise<void> {
  const { origin, start, reason, late, answer, triggerId, responseUrl } = slashCommand
  const [early, after] = [spanIn([...args, start ?? []].flat().join(' ')), spanIn(late ?? '')]
  const [from, until] = [early.from || after.from, early.until || after.until]
  if (visibleReason(reason) === undefined || late !== undefined) {
    await authorize(app, origin, { to: 'freeze' })
    const zone = app.directory.knownZone(origin.userId)
    const problem = late === undefined ? undefined : typedLate(late, after.until ? 'Until' : 'From')
    const typed = { from, until, reason: visibleReason(reason) }
    return void (await openForm(app, triggerId, freezeForm({ origin, responseUrl, zone }, typed, await setNow(app), problem)))
  }
  const problems = Object.values(await setFreeze(app, origin, { from, until, reason }, answer))
  if (problems.length > 0) throw new Refusal('wrong-usage', mrkdwn`Nothing was frozen. ${joinMrkdwn(problems, ' ')}`)
}

async function submitFreeze(app: App, { metadata, origin, values, answer }: Submission): Promise<SubmissionAnswer> {
  const typed = { from: values.from?.trim(), until: values.until?.trim(), reason: reasonIn(values) }
  const [opened, set] = [readMetadata(metadata), await setNow(app)]
  const again = (problem: Mrkdwn) => freezeForm(opened ?? { origin }, typed, set, problem)
  if (untold(opened, toldOfFreeze(set)).length > 0)
    return { is: 'next', view: again(mrkdwn`*Not frozen yet.* A freeze was set meanwhile.`) }
  const problems = await setFreeze(app, origin, typed, answer)
  return refuseForm(problems, again) ?? { is: 'accepted', words: mrkdwn`Frozen.` }
}

const setNow = async (app: App) => freezeSetAt(await app.freezes.read(), await app.store.now())

const tellMs = 1_500
const minuteMs = 60_000
type Problems = Partial<Record<keyof TypedFreeze, Mrkdwn>>

/** Returns what is wrong with what was typed. Empty once it is frozen: the message in the channel says so, or else the answer. */
async function setFreeze(app: App, origin: Origin, typed: TypedFreeze, answer: Answer): Promise<Problems> {
  const { channelId, userId: by } = origin
  await authorize(app, origin, { to: 'freeze' })
  const [zone, now] = await Promise.all([app.directory.zone(by), app.store.now()])
  const problems: Problems = {}
  const timeOf = (field: 'from' | 'until', after: number) => {
    const text = typed[field]?.replace(/^for /i, 'in ')
    const read = text ? readStart(text, { now: after, zone, longestMs: now + longestAheadMs - after }) : undefined
    if (!read || 'at' in read) return read?.at
    const words = startProblem(text ?? '', read.problem, zone, field === 'from' ? 'start' : 'end')
    problems[field] = read.problem.code === 'unreadable' ? mrkdwn`${words} ${startExamples}` : words
    return undefined
  }
  const typedFrom = timeOf('from', now)
  // Times are shown to the minute, and no change may start in the one that is said.
  const from = typedFrom && Math.max(now, Math.floor(typedFrom / minuteMs) * minuteMs)
  const soonest = timeOf('until', /^for /i.test(typed.until ?? '') ? (from ?? now) : now)
  const isTooEarly = typedFrom !== undefined && soonest !== undefined && soonest <= typedFrom
  // A time of day is the next one after the beginning. What counts from now stays what it is.
  const until = isTooEarly && !/^in /i.test(typed.until ?? '') ? timeOf('until', from ?? now) : soonest
  if (until !== undefined && until === soonest && isTooEarly)
    problems.until = mrkdwn`The freeze would end before it begins: ${code('in')} counts from now, ${code('for')} from the beginning.`
  const reason = visibleReason(typed.reason)
  if (reason === undefined) problems.reason = mrkdwn`Enter a reason.`
  else if (reason.length > longestReason) problems.reason = tooLongReason(reason.length)
  if (Object.keys(problems).length > 0) return problems

  const record = await app.freezes.set({ from, until, by, reason, channelId })
  if (record === 'is-on') {
    const set = await setNow(app)
    // Somebody has just lifted it.
    if (!set) return setFreeze(app, origin, typed, answer)
    throw new Refusal('freeze-is-on', mrkdwn`Nothing was frozen: there is a freeze ${frozenWords(set)}. Lift it first, or freeze at once.`)
  }
  if (record === 'unknown-key') throw await refuse(app, origin, { to: 'freeze' }, { code: 'freeze-unreadable' })
  await judgeHeld(app)
  const told = await withinOr(tellMs, tell(app, record), undefined)
  const unposted = context([mrkdwn`Lockkeeper couldn't post this in the channel yet.`])
  if (told?.is !== 'sent') await answer.ephemeral(message([...freezeMessage(app.config.docsUrl, record).blocks, ...unposted]))
  return {}
}

/** Lifts what is on: what is planned, perhaps by somebody else, is canceled by its button. */
async function liftByCommand(app: App, origin: Origin, reason: string | undefined): Promise<Mrkdwn> {
  await authorize(app, origin, { to: 'unfreeze' })
  const [freeze, now] = await Promise.all([app.freezes.read(), app.store.now()])
  const [on, planned] = [freezeOnAt(freeze, now), freezeSetAt(freeze, now)]
  return !on && planned ? onlyPlanned(planned) : unfreeze(app, origin, { reason, which: on?.id })
}

/** `which`: the freeze that is meant. */
async function unfreeze(app: App, origin: Origin, { reason, which }: { reason?: string | undefined; which?: string | undefined }) {
  await authorize(app, origin, { to: 'unfreeze' })
  const held = await heldTitles(app)
  const lifted = await app.freezes.lift({ by: origin.userId, reason, channelId: origin.channelId || undefined }, which)
  if (lifted === 'unknown-key') throw await refuse(app, origin, { to: 'unfreeze' }, { code: 'freeze-unreadable' })
  if (!lifted && which !== undefined) throw await refuse(app, origin, { to: 'unfreeze' }, { code: 'freeze-over' })
  const ofPolicy = freezesOnAt(app.config.policy, await app.store.now())
  if (!lifted) return notFrozen(ofPolicy)
  void tell(app, lifted)
  await judgeHeld(app)
  const still = freezesOfPolicy(ofPolicy)
  return mrkdwn`${unfrozenWords(lifted, { held })}${still ? mrkdwn` ${still}` : ''}`
}

/** What is approved starts, or its message says what holds it now. The messages of those that wait for a press say what would. */
async function judgeHeld(app: App): Promise<void> {
  // Messages show what was read last.
  await app.freezes.read()
  await wakeHeld(app)
  const { requests } = await app.store.findOpen()
  await showAgain(
    app,
    requests.filter((request) => waitsForPress(app, request)),
  )
}

/** *Unfreeze* says what it starts, before it does. */
async function pressUnfreeze(app: App, { value, origin, responseUrl, onHome, triggerId }: Click): Promise<void> {
  await authorize(app, origin, { to: 'unfreeze' })
  const metadata = { origin, responseUrl: onHome ? undefined : responseUrl, button: value }
  await openForm(app, triggerId, unfreezeForm(metadata, await heldTitles(app)))
}

async function heldTitles(app: App): Promise<HeldTitles> {
  const held = await heldByFreeze(app)
  const titles = (requests: Request[]) => requests.map((request) => app.catalog.titleOf(request))
  const isPressed = (request: Request) => waitsForPress(app, request)
  return { starting: titles(held.filter((each) => !isPressed(each))), pressed: titles(held.filter(isPressed)) }
}

async function submitUnfreeze(app: App, { metadata, origin, answer }: Submission): Promise<SubmissionAnswer> {
  const opened = readMetadata(metadata)
  const held = await heldTitles(app)
  if (opened && untold(opened, toldOfUnfreeze(held)).length > 0)
    return { is: 'next', view: unfreezeForm(opened, held, mrkdwn`*Not lifted yet.* More starts now than when this form opened.`) }
  const words = await unfreeze(app, origin, { which: opened?.button ?? '' })
  await answer.ephemeral(notice(words))
  return { is: 'accepted', words }
}

/** Returns what became of the message in its channel. If this process dies, a tick sends both. */
async function tell(app: App, { id }: FreezeRecord) {
  const [here] = (['here', 'ops'] as const).map((where) =>
    deliverText(app, { id: freezeMessageId(id, 'set', where), name: 'freeze' }).catch(app.errors.of('people')),
  )
  return (await here) ?? undefined
}

/** Tells the operators when a freeze of the policy begins and ends, once: what was told is remembered for longer than the freeze lasts. */
async function announce(app: App): Promise<void> {
  const { redis, keys, config } = app
  await app.freezes.read()
  const now = await app.store.now()
  for (const each of config.opsChannel === undefined ? [] : (config.policy.freezes ?? [])) {
    const { name, from, to } = each
    const isOver = now >= to
    const own = `freeze-of-policy:${hash('sha256', JSON.stringify([name, from, to])).slice(0, 16)}`
    const [begin, id] = [`${own}:begin`, `${own}:${isOver ? 'end' : 'begin'}`]
    const [hasBegun, isTold] = await guardStore(() => Promise.all([redis.exists(keys.message(begin)), redis.exists(keys.message(id))]))
    if (now < from || isTold || (isOver && !hasBegun)) continue
    const rememberMs = Math.max(to - now, 0) + (isOver ? 3 : 2) * 24 * 3_600_000
    await oweText(app, { id, name: 'notice' }, { words: policyFreezeWords(each, isOver).text, rememberMs })
  }
}

/**
 * Tells of a freeze what its signed record says, where that was set or to the operators. Redis has the same record in its message, so nobody who
 * can write there chooses the words or the channel.
 */
async function sendFreeze(app: App, { id, name }: Owed, leased: Lease, facts: string, sinceMs: number): Promise<Settlement> {
  const record = app.freezes.openMessage(facts)
  const [, freezeId, found, where] = /^freeze-([\da-f-]+)-(set|begun|over)-(here|ops)$/.exec(id) ?? []
  const when = found as 'set' | 'begun' | 'over' | undefined
  const channelId = where === 'ops' ? app.config.opsChannel : record?.channelId
  // Its content is signed, but not in which message it belongs.
  if (!record || record.id !== freezeId || channelId === undefined) return { status: 'dropped' }
  const [freeze, now] = await Promise.all([app.freezes.read(), app.store.now()])
  // A process that has the key tells it.
  if (freeze.isUnreadable) return later(otherVersionRetryMs)
  const isCurrent = [freeze.record?.id, freeze.record?.next?.id].includes(record.id)
  const isSet = freezesSetAt(freeze, now).some(({ id }) => id === record.id)
  const isFirst = when === 'set' && record.isOn
  // A late message may be about a freeze that is over, or that another one replaced. Nothing starts at the end of one while another one is on.
  if (!isFirst && (!isCurrent || (when === 'begun' && !isSet) || (when === 'over' && freezeOnAt(freeze, now)))) {
    if (when === 'set') await showEnded(app, record.ends, record)
    // Of one that was lifted or replaced before its time, what did that says so.
    const span = freeze.freezes.find(({ ownId }) => ownId === record.id)
    if (when === 'over' && span && span.to >= (record.until ?? 0)) await showEnded(app, record.id)
    return { status: 'dropped' }
  }
  const hasButton = where === 'here' && isSet
  const message = isFirst && !isSet ? endedFreezeMessage(record, freeze.record) : freezeMessage(app.config.docsUrl, record, when, hasButton)
  const place = { channelId, key: `${name}/${id}` }
  const posted = await postOnce(app, { message, place, sinceMs }, leased)
  if (posted.is === 'sent' || posted.is === 'found') {
    if (when === 'over') await showEnded(app, record.id)
    if (when === 'set') await showEnded(app, record.ends, record)
    // Somebody may have ended it while it was posted.
    const { record: last } = await app.freezes.read()
    if (isFirst && isSet && last?.id !== record.id && last?.next?.id !== record.id)
      await app.slack.messenger.update({ ...place, ts: posted.ts }, endedFreezeMessage(record, last))
    return { status: 'settled', cardTs: posted.ts, rememberMs: rememberFreezeMs }
  }
  if (posted.is !== 'refused') return laterAfter(posted)
  return where === 'ops' || isPassing(posted.error) ? later(passingMs) : { status: 'dropped', refused: posted.error }
}

/** As long as a freeze with an end can last, and longer: where its message is must be known until then. */
const rememberFreezeMs = 30 * 24 * 3_600_000

/**
 * Otherwise the message looks as if the freeze were on. A press of a button that stays, because Slack is away now, is answered that it is over.
 * `ending`: what lifted or replaced it.
 */
async function showEnded(app: App, ended: string | undefined, ending?: FreezeRecord): Promise<void> {
  const { redis, keys, freezes, slack } = app
  if (ended === undefined) return
  const id = freezeMessageId(ended, 'set', 'here')
  const [facts, ts] = await guardStore(() => redis.hmget(keys.message(id), 'facts', 'cardTs'))
  const record = freezes.openMessage(facts ?? '')
  if (record?.channelId === undefined || !ts) return
  const place = { channelId: record.channelId, ts: String(JSON.parse(ts)), key: `freeze/${id}` }
  await slack.messenger.update(place, endedFreezeMessage(record, ending))
}
