import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../app.ts'
import type { Origin } from '../../domain/approval.ts'
import type { Change } from '../../domain/change.ts'
import type { Request } from '../../domain/request.ts'
import { formatDuration } from '../../domain/text.ts'
import type { Feature, OwnAbility } from '../../kit/ability.ts'
import { sendOwedMessage } from '../../kit/owed-message.ts'
import { judgeAgain } from '../../life/waiting.ts'
import type { HomeSection } from '../../messages/home-view.ts'
import { requestLink, subjectWords } from '../../messages/request-words.ts'
import { submittedWords } from '../../messages/submit-words.ts'
import { lackWords } from '../../messages/why-not.ts'
import { notifyOperators } from '../../outbox/notices.ts'
import type { Distrust } from '../../record/revised.ts'
import { readClock } from '../../redis/scripts.ts'
import { type Confirmation, type ConfirmedAct, whoConfirms } from '../../rights/confirmation.ts'
import { actions, button, message, notice, noticeView, sectionWithButton, wholeSection } from '../../slack/blocks.ts'
import type { CommandCall } from '../../slack/commands.ts'
import { Refusal } from '../../slack/errors.ts'
import type { Click } from '../../slack/interactions.ts'
import { alternatives, code, dateTime, escapeMrkdwn, type Mrkdwn, mention, mrkdwn, quotation } from '../../slack/text.ts'
import type { Message } from '../../slack/web-api.ts'
import { challengeOf, Proof, partyOf, usableOf, verifyAssertion } from './ceremony.ts'
import { addPasskeyChange, changeKinds, removePasskeyChange } from './changes.ts'
import { createLink, keyOf, type Link, linkMs, pagePath, readLink, readPending, withKey } from './links.ts'
import { passkeyPage } from './page.ts'
import {
  changePasskeys,
  distrustWords,
  type Found,
  mostPasskeys,
  type Passkey,
  passkeysLost,
  passkeysOf,
  readPasskeys,
  withoutOne,
} from './record.ts'

/** `confirm: passkey` in a rule: an approval counts only with a passkey of the approver, over the hash of exactly this request. */
export const confirmWithPasskeys: OwnAbility = {
  senders: {
    passkeys: sendOwedMessage,
    // Repeated by the outbox until it is done.
    [passkeysLost]: async (app) => {
      await judgeAgain(app)
      return { status: 'settled' }
    },
  },
  confirms: { passkey: { of: confirmation, kinds: [...changeKinds] } },
  home: showMissing,
  pages: (app) => (isInUse(app) ? [passkeyPage(app)] : []),
  outdated: async (app) => {
    const text = await app.redis.get(app.keys.passkeys)
    return { what: 'other records', count: Number(Boolean(text) && !app.recordKeyring.isCurrent(text ?? '')) }
  },
  create,
}

function isInUse({ config }: App): boolean {
  return config.policy.rules.some(({ confirmBy }) => confirmBy === 'passkey')
}

/** On the Home tab of an approver who cannot approve without a passkey. */
async function showMissing(app: App, { userId, command }: Origin): Promise<HomeSection | undefined> {
  const lacking = (await whoConfirms(app)).filter(({ unable }) => unable.includes(userId)).map(({ rule }) => rule.name)
  if (lacking.length === 0) return undefined
  const isEvery = app.config.policy.rules.every(({ approve, confirmBy }) => !approve || confirmBy === 'passkey')
  return {
    title: 'Your passkey',
    entries: [wholeSection((await awaitedWords(app, userId)) ?? lackWords(lacking, isEvery, 'passkey', command))],
    rest: `${command} passkeys`,
  }
}

const buttons = { add: 'passkey-add', remove: 'passkey-remove', open: 'passkey-open' } as const

function create(app: App): Feature {
  const removal = removePasskeyChange(app) as Change
  const changes = [addPasskeyChange(app) as Change, removal]
  // What was requested before can be withdrawn, and expires.
  if (!isInUse(app)) return { changes, commands: [] }
  const watched = new Set<string>()
  return {
    changes,
    commands: [
      {
        words: 'passkeys',
        group: 'You',
        usage: '[@person]',
        takesMentions: true,
        summary: 'Your passkeys, which confirm your approvals',
        details: mrkdwn`Some rules ask for a passkey: your device's fingerprint, face or PIN, or a security key. A new one counts once another approver confirms it with theirs, or an operator trusts it on the server. With a person, theirs, which you can request to remove.`,
        examples: [],
        need: 'read',
        run: (call) => showPasskeys(app, call),
      },
    ],
    clicks: {
      [buttons.add]: (click) => pressAdd(app, click),
      [buttons.remove]: (click) => pressRemove(app, removal, click),
      // Slack also sends a click on a button that opens an address.
      [buttons.open]: (click) => pressOpen(app, watched, click),
    },
  }
}

function confirmation(app: App): Confirmation {
  return {
    ask: (request, act, origin) => askFor(app, request, act, origin),
    async verify(request, act, proof) {
      const found = await readOrAlert(app)
      if (found.distrust === 'unknown-key') return 'unknown-key'
      const read = Proof.safeParse(proof)
      const passkey = read.data && passkeysOf(found, act.by).find(({ id }) => id === read.data.credential)
      if (!passkey) return 'not-confirmed'
      const challenge = challengeOf(request, act, read.data.link)
      return (await verifyAssertion(app, passkey, challenge, read.data)) === undefined ? 'not-confirmed' : 'confirmed'
    },
    async able(userIds) {
      const found = await readOrAlert(app)
      return new Set(userIds.filter((userId) => usableOf(app, found, userId).length > 0))
    },
    checks: async () => (await Promise.all([checkPage(app), checkRecord(app)])).flat(),
  }
}

type Checks = ReturnType<Confirmation['checks']>

/** Whether people's browsers can reach the page, as far as this host can tell. */
async function checkPage(app: App): Checks {
  const address = new URL(pagePath, app.config.publicUrl)
  const answer = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(1_000) })
    .then((response) => response.text())
    .catch(() => undefined)
  if (answer?.includes('Lockkeeper')) return [{ words: mrkdwn`They work at ${code(partyOf(app).rpId)}.` }]
  const words = mrkdwn`${code(address.href)} ${answer === undefined ? "doesn't answer" : "isn't Lockkeeper's page"}, so nobody can confirm anything.`
  return [{ words, fix: mrkdwn`Check ${code('PUBLIC_URL')}, and the proxy before it.` }]
}

async function checkRecord(app: App): Checks {
  const { distrust, passkeys } = await readOrAlert(app)
  const fix =
    distrust === 'unknown-key'
      ? mrkdwn`Add that key to ${code('STATE_KEY')}, after the first. If it is gone: ${code(`redis-cli del '${app.keys.passkeys}'`)}.`
      : mrkdwn`Find who wrote to Redis, and change its password. Then each approver adds a passkey again, and an operator trusts the first one with ${code('npm run passkeys -- trust <code>')}.`
  if (distrust) return [{ words: untrusted(distrust), fix }]
  const { rpId } = partyOf(app)
  const others = passkeys.filter((each) => each.rpId !== rpId)
  const [first] = others
  if (!first) return []
  const words = mrkdwn`${others.length} of ${passkeys.length} can't confirm anything at ${code(rpId)}: they were made at another host, such as ${code(first.rpId)}.`
  return [
    { words, fix: mrkdwn`Their owners remove them: ${code(`${app.config.slack.command} passkeys`)}. Or set ${code('PUBLIC_URL')} back.` },
  ]
}

const untrusted = (distrust: Distrust) =>
  mrkdwn`Nobody can approve with a passkey: the record of passkeys in Redis is ${distrustWords[distrust]}.`

/** Notifies the operators if the record of passkeys can't be trusted. */
async function readOrAlert(app: App): Promise<Found> {
  const found = await readPasskeys(app)
  const { distrust } = found
  if (distrust && distrust !== 'unknown-key')
    await notifyOperators(app, 'passkeys-not-trusted', mrkdwn`:rotating_light: ${untrusted(distrust)}`, { about: distrust })
  return found
}

/** The answer to a click on a button of a request whose rule asks for a passkey. */
async function askFor(app: App, request: { id: string; hash: string }, { to, reason }: ConfirmedAct, origin: Origin): Promise<Message> {
  const notDone = to === 'start-now' ? 'Not started' : 'Not approved'
  const found = await readOrAlert(app)
  if (found.distrust)
    throw new Refusal('no-passkey', mrkdwn`${notDone}: the record of passkeys can't be verified. Tell Lockkeeper's operators.`)
  const names = new Set(usableOf(app, found, origin.userId).map(({ name }) => name))
  if (names.size === 0) {
    const why = (await awaitedWords(app, origin.userId)) ?? mrkdwn`You have none here. ${code(`${origin.command} passkeys`)} adds one.`
    throw new Refusal('no-passkey', mrkdwn`${notDone}: this rule asks for your passkey. ${why}`)
  }
  const url = await createLink(app, { to, origin, requestId: request.id, hash: request.hash, reason })
  const mine = alternatives([...names].map(quotation))
  return linkMessage(mrkdwn`*${notDone} yet.* Confirm it with your passkey ${mine} within ${formatDuration(linkMs)}.`, 'Confirm', url)
}

function linkMessage(words: Mrkdwn, label: string, url: string): Message {
  const value = new URL(url).pathname.slice(pagePath.length)
  const opens = { ...button({ text: label, actionId: buttons.open, value, style: 'primary' }), url }
  return message([...wholeSection(words), ...actions([opens])])
}

const lookMs = 2_000

/** Slack lets an ephemeral message be replaced only after a click on it, so its link is watched from then on. `watched`: those that are. */
async function pressOpen(app: App, watched: Set<string>, { value, origin, view, answer }: Click): Promise<void> {
  answer.elsewhere()
  const link = await readLink(app, value)
  if (link?.origin.userId !== origin.userId || watched.has(value)) return
  const replaceOnceOver = async () => {
    while (await readLink(app, value)) await delay(lookMs, undefined, { ref: false })
    const words = (await readClock(app)) < link.until ? await usedWords(app, link) : mrkdwn`This link has expired. Press the button again.`
    await (view ? view.update(noticeView(words)) : answer.replace(notice(words)))
  }
  watched.add(value)
  // Without Redis the message stays, and its page says what is true.
  void replaceOnceOver()
    .catch(() => {})
    .finally(() => watched.delete(value))
}

async function usedWords(app: App, { to, origin, requestId = '' }: Link): Promise<Mrkdwn> {
  if (to === 'add') return mrkdwn`Passkey created. ${(await awaitedWords(app, origin.userId)) ?? ''}`
  const request = await app.store.find(requestId)
  const isNamed = request && app.signatures.verifyRecord(request) === 'genuine'
  const subject = isNamed ? mrkdwn`${subjectWords(app.catalog.titleOf(request), linkedOf(app, request))}\n` : ''
  return mrkdwn`${subject}Confirmed with your passkey.`
}

const linkedOf = ({ slack }: App, request: Request) => ({ id: request.id, link: slack.identity.linkTo(request) })

/** What a person's new passkey waits for. Undefined if none waits. */
async function awaitedWords(app: App, userId: string): Promise<Mrkdwn | undefined> {
  const { requests } = await app.store.findOpen()
  const adding = requests.find(({ kind, state, origin }) => kind === 'passkey.add' && state === 'waiting' && origin.userId === userId)
  if (adding && app.signatures.verifyRecord(adding) === 'genuine')
    return mrkdwn`Your new passkey counts once another approver confirms it: ${requestLink(linkedOf(app, adding))}.`
  const { passkey, until } = (await readPending(app, userId, 'passkey-pending-of')) ?? {}
  if (!passkey || !until) return undefined
  return mrkdwn`Your new passkey ${quotation(passkey.name)} counts once an operator trusts it. Before ${dateTime(until)}, tell them the code that its page showed, or add a passkey again for a new code.`
}

async function showPasskeys(app: App, { args, slashCommand: { origin, answer } }: CommandCall): Promise<void> {
  const [, userId = origin.userId] = /^<@(\w+)/.exec(args[0] ?? '') ?? []
  await answer.ephemeral(await listOf(app, userId, userId === origin.userId))
}

/** `removed`: what they called the one that they have just removed. */
async function listOf(app: App, userId: string, isOwn: boolean, removed = ''): Promise<Message> {
  const passkeys = passkeysOf(await readOrAlert(app), userId)
  const awaited = isOwn ? await awaitedWords(app, userId) : undefined
  const none = isOwn
    ? mrkdwn`You have no passkey. Rules with ${code('confirm: passkey')} ask for one when you approve.`
    : mrkdwn`${mention(userId)} has no passkey.`
  const first = removed ? [mrkdwn`Removed ${escapeMrkdwn(removed)}.`] : []
  const head = passkeys.length > 0 ? [isOwn ? mrkdwn`*Your passkeys*` : mrkdwn`*Passkeys of* ${mention(userId)}`] : awaited ? [] : [none]
  const rows = passkeys.map((each) => sectionWithButton(rowWords(app, each), removeButton(each, isOwn, passkeys.length === 1)))
  const add =
    isOwn && passkeys.length < mostPasskeys ? actions([button({ text: 'Add a passkey', actionId: buttons.add, value: 'add' })]) : []
  const above = [...first, ...head].flatMap((words) => wholeSection(words))
  return message([...above, ...rows, ...(awaited ? wholeSection(awaited) : []), ...add])
}

function rowWords(app: App, { name, addedAt, rpId, ...passkey }: Passkey): Mrkdwn {
  const elsewhere = rpId === partyOf(app).rpId ? '' : mrkdwn`. It was made at ${code(rpId)} and can't confirm anything here.`
  return mrkdwn`*${name}*, key ${keyOf(passkey)}, added ${dateTime(addedAt)}${elsewhere}`
}

/** Another's is removed by a request, which asks once more. */
function removeButton(passkey: Passkey, isOwn: boolean, isOnly: boolean) {
  const lost = isOnly ? " It is your only one: without it, you can't approve under rules that ask for a passkey." : ''
  const text = mrkdwn`${passkey.name} can't confirm anything anymore. What it approved ends, unless it was sent.${lost}`
  const confirm = isOwn ? { title: 'Remove this passkey?', text, confirm: 'Remove', deny: 'Cancel' } : undefined
  return button({ text: isOwn ? 'Remove' : 'Request removal', actionId: buttons.remove, value: keyOf(passkey), style: 'danger', confirm })
}

async function pressAdd(app: App, { origin, answer }: Click): Promise<void> {
  if (passkeysOf(await readOrAlert(app), origin.userId).length >= mostPasskeys)
    throw new Refusal('too-many-passkeys', mrkdwn`You have ${mostPasskeys} passkeys, which is the limit. Remove one first.`)
  const url = await createLink(app, { to: 'add', origin })
  await answer.ephemeral(linkMessage(mrkdwn`Add a passkey of this device within ${formatDuration(linkMs)}.`, 'Add a passkey', url))
}

async function pressRemove(app: App, change: Change, { origin, answer, value, deliveryKey }: Click): Promise<void> {
  const { userId, command } = origin
  const gone = new Refusal('out-of-date', mrkdwn`That passkey is gone. ${code(`${command} passkeys`)} shows yours.`)
  const passkey = (await readPasskeys(app)).passkeys.find((each) => keyOf(each) === value)
  if (!passkey) throw gone
  if (passkey.by !== userId) {
    const requested = await app.submit({ change, input: { passkey, requestedBy: userId }, origin, reason: undefined, deliveryKey })
    return void (await answer.ephemeral(notice(submittedWords(requested))))
  }
  const words = mrkdwn`:key: ${mention(userId)} removed their passkey ${code(withKey(passkey))}. If they didn't, their Slack session may be stolen: tell Lockkeeper's operators.`
  const note = { act: 'passkey-remove', by: userId, text: withKey(passkey) } as const
  if (!(await changePasskeys(app, (all) => withoutOne(all, passkey), note, { words, to: [userId] }))) throw gone
  await answer.replace(await listOf(app, userId, true, passkey.name))
}
