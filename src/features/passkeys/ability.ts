import type { App } from '../../app.ts'
import type { Origin } from '../../domain/approval.ts'
import type { Change } from '../../domain/change.ts'
import { formatDuration } from '../../domain/text.ts'
import type { Feature, OwnAbility } from '../../kit/ability.ts'
import type { HomeSection } from '../../messages/home-view.ts'
import { ruleWords } from '../../messages/request-words.ts'
import { submittedWords } from '../../messages/submit-words.ts'
import { notifyOperators } from '../../outbox/notices.ts'
import { type Confirmation, type ConfirmedAct, whoConfirms } from '../../rights/confirmation.ts'
import { actions, button, message, sectionWithButton, wholeSection } from '../../slack/blocks.ts'
import type { CommandCall } from '../../slack/commands.ts'
import { Refusal } from '../../slack/errors.ts'
import type { Click } from '../../slack/interactions.ts'
import { code, dateTime, escapeMrkdwn, type Mrkdwn, mention, mrkdwn } from '../../slack/text.ts'
import type { Message } from '../../slack/web-api.ts'
import { addingKind, addPasskeyChange, removePasskeyChange, removingKind, shortOf } from './adding.ts'
import { challengeOf, Proof, verifyAssertion } from './ceremony.ts'
import { createLink, linkMs, pagePath } from './links.ts'
import { owePasskeyMessage, sendPasskeyMessage, tellNow } from './messages.ts'
import { passkeyPage } from './page.ts'
import { changePasskeys, type Found, mostPasskeys, passkeysOf, readPasskeys } from './record.ts'

/** `confirm: passkey` in a rule: an approval counts only with a passkey of the approver, over the hash of exactly this request. */
export const confirmWithPasskeys: OwnAbility = {
  senders: { passkeys: sendPasskeyMessage },
  confirms: { passkey: { of: confirmation, kinds: [addingKind, removingKind] } },
  home: showMissing,
  pages: (app) => (isInUse(app) ? [passkeyPage(app, addPasskeyChange(app))] : []),
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
  const lacks = (await whoConfirms(app)).find(({ unable }) => unable.includes(userId))
  if (!lacks) return undefined
  const words = mrkdwn`You have none, so you can't approve under the ${ruleWords(lacks.rule.name)}. ${code(`${command} passkeys`)} adds one.`
  return { title: 'Your passkey', entries: [wholeSection(words)], rest: `${command} passkeys` }
}

const buttons = { add: 'passkey-add', remove: 'passkey-remove', open: 'passkey-open', removeOther: 'passkey-remove-other' } as const

function create(app: App): Feature {
  if (!isInUse(app)) return { commands: [] }
  const removal = removePasskeyChange(app)
  return {
    changes: [addPasskeyChange(app) as Change, removal as Change],
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
      [buttons.remove]: (click) => pressRemove(app, click),
      [buttons.removeOther]: (click) => requestRemoval(app, removal as Change, click),
      // Slack also sends a click on a button that opens an address.
      [buttons.open]: async ({ answer }) => answer.elsewhere(),
    },
  }
}

function confirmation(app: App): Confirmation {
  return {
    ask: (request, act, origin) => askFor(app, request.id, act, origin),
    async verify(request, act, proof) {
      const found = await believed(app)
      if (found.distrust === 'unknown-key') return 'unknown-key'
      const read = Proof.safeParse(proof)
      const passkey = read.data && passkeysOf(found, act.by).find(({ id }) => id === read.data.credential)
      if (!passkey) return 'not-confirmed'
      const challenge = challengeOf(request, act, read.data.link)
      return (await verifyAssertion(app, passkey, challenge, read.data)) === undefined ? 'not-confirmed' : 'confirmed'
    },
    async able(userIds) {
      const found = await believed(app)
      return new Set(userIds.filter((userId) => passkeysOf(found, userId).length > 0))
    },
    problem: () => problemOfPage(app),
  }
}

/** Whether people's browsers can reach the page, as far as this host can tell. */
async function problemOfPage({ config: { publicUrl } }: App): Promise<Mrkdwn | undefined> {
  const address = new URL(pagePath, publicUrl)
  const answer = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(1_000) })
    .then((response) => response.text())
    .catch(() => undefined)
  if (answer?.includes('Lockkeeper')) return undefined
  return mrkdwn`${code(address.href)} ${answer === undefined ? "doesn't answer" : "isn't Lockkeeper's page"}, so nobody can confirm anything.`
}

/** Tells the operators if the record of passkeys is not believed. Nobody has one then. */
async function believed(app: App): Promise<Found> {
  const found = await readPasskeys(app)
  const { distrust } = found
  if (distrust && distrust !== 'unknown-key') {
    const why = { missing: 'is gone', older: 'is older than one that was read before', forged: 'is not one that Lockkeeper wrote' }[
      distrust
    ]
    const words = mrkdwn`:rotating_light: Nobody can approve with a passkey. The record of passkeys in Redis ${why}.`
    await notifyOperators(app, 'passkeys-not-trusted', words, { about: distrust })
  }
  return found
}

/** The answer to a click on a button of a request whose rule asks for a passkey. */
async function askFor(app: App, requestId: string, { to, reason }: ConfirmedAct, origin: Origin): Promise<Message> {
  const command = `${origin.command} passkeys`
  const found = await believed(app)
  if (found.distrust)
    throw new Refusal('no-passkey', mrkdwn`Not approved: the record of passkeys can't be verified. Tell Lockkeeper's operators.`)
  if (passkeysOf(found, origin.userId).length === 0)
    throw new Refusal('no-passkey', mrkdwn`Not approved: this rule asks for your passkey, and you have none. ${code(command)} adds one.`)
  const url = await createLink(app, { to, origin, requestId, reason })
  return linkMessage(mrkdwn`*Not approved yet.* Confirm it with your passkey within ${formatDuration(linkMs)}.`, 'Confirm', url)
}

function linkMessage(words: Mrkdwn, label: string, url: string): Message {
  const opens = { ...button({ text: label, actionId: buttons.open, value: 'open', style: 'primary' }), url }
  return message([...wholeSection(words), ...actions([opens])])
}

async function showPasskeys(app: App, { args, slashCommand: { origin, answer } }: CommandCall): Promise<void> {
  const [, other = origin.userId] = /^<@(\w+)/.exec(args[0] ?? '') ?? []
  if (other !== origin.userId) return answer.ephemeral(await passkeysOfOther(app, other))
  const own = passkeysOf(await believed(app), origin.userId)
  const none = mrkdwn`You have no passkey. Rules with ${code('confirm: passkey')} ask for one when you approve.`
  const rows = own.map((each) =>
    sectionWithButton(
      mrkdwn`*${each.name}*, added ${dateTime(each.addedAt)}`,
      button({
        text: 'Remove',
        actionId: buttons.remove,
        value: shortOf(each),
        style: 'danger',
        confirm: {
          title: 'Remove this passkey?',
          text: mrkdwn`${each.name} can't confirm anything anymore. Requests that were approved with it and aren't sent yet are not carried out.`,
          confirm: 'Remove',
          deny: 'Cancel',
        },
      }),
    ),
  )
  const add = own.length < mostPasskeys ? actions([button({ text: 'Add a passkey', actionId: buttons.add, value: 'add' })]) : []
  await answer.ephemeral(message([...wholeSection(own.length === 0 ? none : mrkdwn`*Your passkeys*`), ...rows, ...add]))
}

async function passkeysOfOther(app: App, userId: string): Promise<Message> {
  const theirs = passkeysOf(await believed(app), userId)
  const rows = theirs.map((each) =>
    sectionWithButton(
      mrkdwn`*${each.name}*, added ${dateTime(each.addedAt)}`,
      button({ text: 'Request removal', actionId: buttons.removeOther, value: shortOf(each), style: 'danger' }),
    ),
  )
  const title = theirs.length === 0 ? mrkdwn`${mention(userId)} has no passkey.` : mrkdwn`*Passkeys of* ${mention(userId)}`
  return message([...wholeSection(title), ...rows])
}

async function requestRemoval(app: App, change: Change, { origin, answer, value, deliveryKey }: Click): Promise<void> {
  const found = (await readPasskeys(app)).passkeys.find((each) => shortOf(each) === value)
  if (!found) throw new Refusal('out-of-date', mrkdwn`That passkey is gone.`)
  const { id, by, name } = found
  const input = { passkey: { id, by, name }, requestedBy: origin.userId }
  const requested = await app.submit({ change, input, origin, reason: undefined, deliveryKey })
  await answer.ephemeral(message(wholeSection(submittedWords(requested))))
}

async function pressAdd(app: App, { origin, answer }: Click): Promise<void> {
  if (passkeysOf(await believed(app), origin.userId).length >= mostPasskeys)
    throw new Refusal('too-many-passkeys', mrkdwn`You have ${mostPasskeys} passkeys, which is the limit. Remove one first.`)
  const url = await createLink(app, { to: 'add', origin })
  await answer.ephemeral(linkMessage(mrkdwn`Add a passkey of this device within ${formatDuration(linkMs)}.`, 'Add a passkey', url))
}

async function pressRemove(app: App, { origin, answer, value }: Click): Promise<void> {
  const { userId } = origin
  const isIt = (each: { id: string; by: string }) => each.by === userId && shortOf(each) === value
  const gone = (await readPasskeys(app)).passkeys.find(isIt)
  const words = mrkdwn`:key: ${mention(userId)} removed their passkey ${code(gone?.name ?? '')}.`
  const own = mrkdwn`:key: Your passkey ${code(gone?.name ?? '')} was removed. If that wasn't you, somebody else may be using your Slack session: tell Lockkeeper's operators.`
  const owes = [owePasskeyMessage(app, userId, own), owePasskeyMessage(app, 'operators', words)]
  const note = { act: 'passkey-remove' as const, by: userId, text: gone?.name }
  const next = (all: Found['passkeys']) => (all.some(isIt) ? all.filter((each) => !isIt(each)) : undefined)
  if (!gone || !(await changePasskeys(app, next, note, { owes })))
    throw new Refusal('out-of-date', mrkdwn`That passkey is gone. ${code(`${origin.command} passkeys`)} shows yours.`)
  tellNow(app, owes)
  await answer.ephemeral(message(wholeSection(mrkdwn`Removed ${escapeMrkdwn(gone.name)}.`)))
}
