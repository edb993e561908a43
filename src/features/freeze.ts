import { hash } from 'node:crypto'
import type { App } from '../app.ts'
import { openForm } from '../bolt/forms.ts'
import type { Origin } from '../domain/approval.ts'
import type { RefusalCode } from '../domain/codes.ts'
import { freezesOnAt, freezing, longestReason, visibleReason } from '../domain/policy.ts'
import { readStart, timeWords } from '../domain/times.ts'
import type { Feature } from '../kit/change-feature.ts'
import { heldByFreeze, wakeHeld } from '../life/send.ts'
import { startExamples, startProblem, tooLongReason } from '../messages/form-words.ts'
import { freezesOfPolicy, notFrozen, policyFreezeWords, unfreezeButton, unfreezeForm } from '../messages/freezes.ts'
import { deliverText, oweText } from '../outbox/notices.ts'
import { showAgain } from '../outbox/outbox.ts'
import { type FreezeRecord, freezeMessageId } from '../record/freeze.ts'
import { guardStore } from '../redis/connect.ts'
import { notice } from '../slack/blocks.ts'
import type { CommandCall } from '../slack/commands.ts'
import { Refusal } from '../slack/errors.ts'
import type { Click, Submission, SubmissionAnswer } from '../slack/interactions.ts'
import { readMetadata } from '../slack/payloads.ts'
import { code, type Mrkdwn, mrkdwn } from '../slack/text.ts'

export const freezeChanges = { create }

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
    repeated: [{ name: 'freezes', everyMs: 30_000, run: announce }],
  }
}

async function freeze(app: App, { slashCommand, args, say }: CommandCall): Promise<void> {
  const { origin, start, reason: typedReason } = slashCommand
  const { channelId, userId, command } = origin
  await app.access.authorize(origin, { to: 'freeze' })
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
  if (record === 'unknown-key') throw await app.access.refuse(origin, { to: 'freeze' }, { code: 'freeze-unreadable' })
  tell(app, record)
  const end = until === undefined ? 'lifted' : timeWords(until, zone)
  const replaces = record.ends === undefined ? '' : ' This replaces the freeze that was on.'
  const unposted =
    (await app.directory.hasBot(channelId)) === false ? " Lockkeeper isn't in this channel, so it can't tell the others here." : ''
  await say(mrkdwn`:snowflake: *Frozen until ${end}.* No change starts.${replaces} ${code(`${command} unfreeze`)} lifts it.${unposted}`)
}

/** `which`: the freeze that a button is about. */
async function unfreeze(app: App, origin: Origin, { reason, which }: { reason?: string | undefined; which?: string }) {
  await app.access.authorize(origin, { to: 'unfreeze' })
  const lifted = await app.freezes.lift({ by: origin.userId, reason, channelId: origin.channelId || undefined }, which)
  if (lifted === 'unknown-key') throw await app.access.refuse(origin, { to: 'unfreeze' }, { code: 'freeze-unreadable' })
  if (!lifted && which !== undefined) throw await app.access.refuse(origin, { to: 'unfreeze' }, { code: 'freeze-over' })
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
  await app.access.authorize(origin, { to: 'unfreeze' })
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
