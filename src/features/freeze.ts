import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { openForm } from '../bolt/open-forms.ts'
import type { Origin } from '../domain/approval.ts'
import type { RefusalCode } from '../domain/codes.ts'
import { freezesOnAt, freezing, longestReason, visibleReason } from '../domain/policy.ts'
import { readStart, timeWords } from '../domain/times.ts'
import type { Feature, OwnAbility } from '../kit/ability.ts'
import { heldByFreeze, wakeHeld } from '../life/send.ts'
import { freezeMessage, freezesOfPolicy, notFrozen, policyFreezeWords, unfreezeButton, unfreezeForm } from '../messages/freezes.ts'
import { startExamples, startProblem, tooLongReason } from '../messages/submit-words.ts'
import { deliverText, oweText } from '../outbox/notices.ts'
import { isPassing, later, laterAfter, passingMs, postOnce } from '../outbox/once.ts'
import { showAgain } from '../outbox/outbox.ts'
import { type FreezeRecord, freezeMessageId, freezeOnAt } from '../record/freeze.ts'
import type { Lease, Owed, Settlement } from '../record/owed.ts'
import { guardStore } from '../redis/connect.ts'
import { authorize, refuse } from '../rights/authorize.ts'
import { notice } from '../slack/blocks.ts'
import type { CommandCall } from '../slack/commands.ts'
import { Refusal } from '../slack/errors.ts'
import type { Click, Submission, SubmissionAnswer } from '../slack/interactions.ts'
import { readMetadata } from '../slack/payloads.ts'
import { code, type Mrkdwn, mrkdwn } from '../slack/text.ts'

export const freezeChanges: OwnAbility = {
  senders: { freeze: sendFreeze },
  repeated: () => [{ name: 'freezes', everyMs: 30_000, run: announce }],
  create,
}

const usage = '[until <time>] because <reason>'

function create(app: App): Feature {
  return {
    commands: [
      {
        words: 'freeze',
        group: 'Change',
        usage,
        summary: 'Let no change start, until a time or until it is lifted',
        details: mrkdwn`It counts at once. Requests can still be made and approved, and what is under way goes on. What it held starts when it ends, in the order of the approvals. Another freeze replaces it.`,
        examples: ['because the network is being rebuilt', 'until 18:00 because of the sale'],
        need: freezing,
        run: (call) => freeze(app, call),
      },
      {
        words: 'unfreeze',
        group: 'Change',
        usage: '',
        summary: 'Lift the freeze: what it held starts',
        examples: [],
        need: freezing,
        run: async ({ slashCommand: { origin, reason }, say }) => say(await unfreeze(app, origin, { reason: visibleReason(reason) })),
      },
    ],
    clicks: { [unfreezeButton]: (click) => pressUnfreeze(app, click) },
    submissions: { [unfreezeButton]: (submission) => submitUnfreeze(app, submission) },
  }
}

async function freeze(app: App, { slashCommand, args, say }: CommandCall): Promise<void> {
  const { origin, start, reason: typedReason } = slashCommand
  const { channelId, userId, command } = origin
  await authorize(app, origin, { to: 'freeze' })
  const nothing = (why: RefusalCode, words: Mrkdwn) => new Refusal(why, mrkdwn`Nothing was frozen. ${words}`)
  const zone = await app.directory.zone(userId)
  const typed = [...args, ...(start === undefined ? [] : [start])].join(' ')
  const [, word, time = ''] = /^(until|till|for) (.+)$/i.exec(typed) ?? []
  if (typed !== '' && word === undefined)
    throw nothing('wrong-usage', mrkdwn`A freeze begins at once. Usage: ${code(`${command} freeze ${usage}`)}`)
  const read = word && readStart(word.toLowerCase() === 'for' ? `in ${time}` : time, { now: await app.store.now(), zone })
  if (read && 'problem' in read) {
    const problem = startProblem(time, read.problem, zone, 'end')
    throw nothing('wrong-usage', read.problem.code === 'unreadable' ? mrkdwn`${problem} ${startExamples}` : problem)
  }
  const reason = visibleReason(typedReason)
  if (reason === undefined) throw nothing('reason-required', mrkdwn`Say why: ${code(`${command} freeze ${usage}`)}`)
  if (reason.length > longestReason) throw nothing('reason-too-long', tooLongReason(reason.length))

  const until = read ? read.at : undefined
  const record = await app.freezes.set({ until, by: userId, reason, channelId })
  if (record === 'is-on') throw nothing('freeze-is-on', mrkdwn`One is on now. Lift it first, or freeze at once to replace it.`)
  if (record === 'unknown-key') throw await refuse(app, origin, { to: 'freeze' }, { code: 'freeze-unreadable' })
  tell(app, record)
  const end = until === undefined ? 'lifted' : timeWords(until, zone)
  const replaces = record.ends === undefined ? '' : ' This replaces the freeze that was on.'
  const unposted =
    (await app.directory.hasBot(channelId)) === false ? " Lockkeeper isn't in this channel, so it can't tell the others here." : ''
  await say(mrkdwn`:snowflake: *Frozen until ${end}.* No change starts.${replaces} ${code(`${command} unfreeze`)} lifts it.${unposted}`)
}

/** `which`: the freeze that a button is about. */
async function unfreeze(app: App, origin: Origin, { reason, which }: { reason?: string | undefined; which?: string }) {
  await authorize(app, origin, { to: 'unfreeze' })
  const lifted = await app.freezes.lift({ by: origin.userId, reason, channelId: origin.channelId || undefined }, which)
  if (lifted === 'unknown-key') throw await refuse(app, origin, { to: 'unfreeze' }, { code: 'freeze-unreadable' })
  if (!lifted && which !== undefined) throw await refuse(app, origin, { to: 'unfreeze' }, { code: 'freeze-over' })
  const ofPolicy = freezesOnAt(app.config.policy, await app.store.now())
  if (!lifted) return notFrozen(ofPolicy)
  tell(app, lifted)
  await wakeHeld(app)
  // The messages of those that wait for an approval say what would hold them.
  await showAgain(
    app,
    (await app.store.findOpen()).requests.filter(({ state }) => state === 'waiting'),
  )
  const still = freezesOfPolicy(ofPolicy)
  return mrkdwn`:sunny: *Unfrozen.* What is due starts now.${still ? mrkdwn` ${still}` : ''}`
}

/** *Unfreeze* says what it starts, before it does. */
async function pressUnfreeze(app: App, { value, origin, responseUrl, onHome, triggerId }: Click): Promise<void> {
  await authorize(app, origin, { to: 'unfreeze' })
  const titles = (await heldByFreeze(app)).map((request) => app.catalog.titleOf(request))
  await openForm(app, triggerId, unfreezeForm({ origin, responseUrl: onHome ? undefined : responseUrl, button: value }, titles))
}

async function submitUnfreeze(app: App, { metadata, origin, answer }: Submission): Promise<SubmissionAnswer> {
  const words = await unfreeze(app, origin, { which: readMetadata(metadata)?.button ?? '' })
  await answer.ephemeral(notice(words))
  return { is: 'accepted', words }
}

/** Does not wait for Slack. If this process dies, a tick tells it. */
function tell(app: App, { id }: FreezeRecord): void {
  const send = (where: 'here' | 'ops') => deliverText(app, { id: freezeMessageId(id, 'set', where), name: 'freeze' })
  void Promise.all([send('here'), send('ops')]).catch(app.errors.of('people'))
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
  const [, freezeId, when, where] = /^freeze-([\da-f-]+)-(set|over)-(here|ops)$/.exec(id) ?? []
  const channelId = where === 'ops' ? app.config.opsChannel : record?.channelId
  const [freeze, now] = await Promise.all([app.freezes.read(), app.store.now()])
  const isCurrent = freeze.record?.id === record?.id
  const isOver = when === 'over'
  // Its content is signed, but not in which message it belongs.
  if (!record || record.id !== freezeId || channelId === undefined || (isOver && !isCurrent)) return { status: 'dropped' }
  const hasButton = where === 'here' && isCurrent && freezeOnAt(freeze, now) !== undefined
  const message = freezeMessage(record, { isOver, hasButton })
  const posted = await postOnce(app, { message, place: { channelId, key: `${name}/${id}` }, sinceMs }, leased)
  if (posted.is === 'sent' || posted.is === 'found') {
    await showEnded(app, isOver ? record.id : record.ends)
    return { status: 'settled', cardTs: posted.ts, rememberMs: rememberFreezeMs }
  }
  if (posted.is !== 'refused') return laterAfter(posted)
  return where === 'ops' || isPassing(posted.error) ? later(passingMs) : { status: 'dropped' }
}

/** As long as a freeze with an end can last, and longer: where its message is must be known until then. */
const rememberFreezeMs = 30 * 24 * 3_600_000

/** Otherwise the message looks as if the freeze were on. A press of a button that stays, because Slack is away now, is answered that it is over. */
async function showEnded({ redis, keys, freezes, slack }: App, ended: string | undefined): Promise<void> {
  if (ended === undefined) return
  const id = freezeMessageId(ended, 'set', 'here')
  const [facts, ts] = await guardStore(() => redis.hmget(keys.message(id), 'facts', 'cardTs'))
  const record = freezes.openMessage(facts ?? '')
  if (record?.channelId === undefined || !ts) return
  const place = { channelId: record.channelId, ts: String(JSON.parse(ts)), key: `freeze/${id}` }
  await slack.messenger.update(place, freezeMessage(record, { hasEnded: true }))
}
