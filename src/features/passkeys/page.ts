import { hash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { reportInWords } from '../../bolt/errors.ts'
import type { Change } from '../../domain/change.ts'
import { StoreUnavailableError, UserError } from '../../domain/errors.ts'
import { type Confirmed, type Request, targetAlerted } from '../../domain/request.ts'
import { cleanText, formatDuration } from '../../domain/text.ts'
import { settleWithin } from '../../domain/within.ts'
import { plainWords } from '../../kit/plain-words.ts'
import { approve, believedApprovals, breakGlass, startNow } from '../../life/decide.ts'
import { titleText } from '../../messages/request-content.ts'
import { cardBody, cardRest } from '../../messages/request-message.ts'
import { passesWords } from '../../messages/request-words.ts'
import { submittedWords } from '../../messages/submit-words.ts'
import { changedRecord, counted, unknownRequest } from '../../messages/why-not.ts'
import { viewOf } from '../../outbox/render.ts'
import { readClock } from '../../redis/scripts.ts'
import { noteRefused } from '../../rights/authorize.ts'
import type { ConfirmedAct } from '../../rights/confirmation.ts'
import { holdsIfApproved } from '../../rights/times.ts'
import { wordsIn } from '../../slack/blocks.ts'
import { isRefused, Refusal } from '../../slack/errors.ts'
import type { Page, PageAnswer } from '../../slack/http-receiver.ts'
import { readJson } from '../../slack/payloads.ts'
import { type Mrkdwn, mention, mrkdwn, ownWords } from '../../slack/text.ts'
import { Assertion, algorithms, challengeOf, challengeToAdd, NewPasskey, partyOf, proofOf, verifyAssertion, verifyNew } from './ceremony.ts'
import { addPasskeyChange, Wanted } from './changes.ts'
import { keepPending, keyOf, type Link, linkMs, pagePath, pendingMs, readLink, useUp, withKey } from './links.ts'
import { changePasskeys, type Passkey, passkeysOf, readPasskeys } from './record.ts'

const template = new URL('page.html', import.meta.url)
/** The build for pages without a bundler, which the package doesn't export. */
const bundle = new URL('../dist/bundle/index.umd.min.js', import.meta.resolve('@simplewebauthn/browser'))

/** What people see. */
interface Shown {
  title: string
  lines: string[]
  /** The button, and what it does. Absent: there is nothing to do. */
  action?: { label: string; options: object; creates: boolean }
}

/** The page on which a person confirms an act, or adds a passkey. */
export function passkeyPage(app: App): Page {
  const adding = addPasskeyChange(app) as Change
  const html = readFileSync(template, 'utf8')
  const script = readFileSync(bundle, 'utf8')

  async function answer({ method, headers }: Parameters<Page['answer']>[0], path: string, body: string): Promise<PageAnswer> {
    const isRead = method === 'GET' || method === 'HEAD'
    const show = (shown: Shown, status = 200) => (isRead ? render(shown, status) : json(shown, status))
    if (isRead && path === '/webauthn.js') return { status: 200, headers: { 'content-type': 'text/javascript' }, body: script }
    if (isRead && (path === '' || path === '/')) return show({ title: 'Lockkeeper', lines: [nothingHere] })
    if (!isRead && (method !== 'POST' || headers.origin !== partyOf(app).origin || headers['content-type'] !== 'application/json'))
      return { status: method === 'POST' ? 403 : 405 }
    let link: Link | undefined
    try {
      link = await readLink(app, path)
      if (!link) return show(expired, 404)
      const shown = isRead ? await shownFor(app, link) : await takeAnswer(app, link, body, adding)
      return shown ? show(shown) : { status: 400 }
    } catch (error) {
      if (link && link.to !== 'add' && (await wasCarriedOut(app, link))) {
        if (!isRead) await useUp(app, link).catch(() => {})
        return show({ title: labels[link.to].done, lines: [seeSlack.text] })
      }
      const status = error instanceof StoreUnavailableError ? 503 : error instanceof UserError ? 409 : 500
      return show({ title: 'Lockkeeper', lines: [await inWords(app, error, link, isRead)] }, status)
    }
  }

  function render({ title, lines, action }: Shown, status: number): PageAnswer {
    const nonce = randomBytes(16).toString('base64')
    const { label = '', creates = false, options = {} } = action ?? {}
    const { command } = app.config.slack
    const values: Record<string, unknown> = {
      nonce,
      title,
      label,
      creates,
      command,
      options: JSON.stringify(options),
      shown: action !== undefined,
    }
    const paragraphs = lines.map((line) => `<p>${escapeHtml(line).replaceAll('\n', '<br>')}</p>`).join('\n')
    const filled = html.replace(/\{\{(\w+)\}\}/g, (_, name) => (name === 'lines' ? paragraphs : escapeHtml(String(values[name]))))
    const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
    const headersOfPage = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }
    return { status, headers: headersOfPage, body: filled }
  }

  return { path: pagePath, answer }
}

const nothingHere = 'Confirm a request with the link that Lockkeeper gives you in Slack.'
const ifNotYours = "If a passkey is requested under your name that isn't yours, withdraw that request, and tell Lockkeeper's operators."
const expired: Shown = {
  title: 'This link has expired',
  lines: [`It was used already, or it is older than 5 minutes. Press the button in Slack again. ${ifNotYours}`],
}

function json({ title, lines }: Shown, status: number): PageAnswer {
  const body = JSON.stringify({ title, words: lines.join(' '), isDone: status === 200 })
  return { status, headers: { 'content-type': 'application/json' }, body }
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}

/** A refusal is noted in the audit, like one of a click. A preview that reads the page tries nothing. */
async function inWords(app: App, error: unknown, link: Link | undefined, isRead: boolean): Promise<string> {
  const at = `page ${link?.to ?? 'unknown'}`
  if (error instanceof UserError && link?.requestId !== undefined && !isRead)
    await noteRefused(app, link.origin, error, { at, requestId: link.requestId }).catch(app.errors.of('audit'))
  return plainWords(app, await reportInWords(app, error, { at, origin: link?.origin }))
}

async function shownFor(app: App, link: Link): Promise<Shown> {
  const { to, origin } = link
  const { rpId } = partyOf(app)
  const known = passkeysOf(await readPasskeys(app), origin.userId).map(({ id, transports }) => ({ id, type: 'public-key', transports }))
  if (to === 'add') {
    const owner = mention(origin.userId)
    await readNames(app, [owner.text])
    const name = plainWords(app, owner)
    const options = {
      timeout: linkMs,
      challenge: challengeToAdd(origin.userId, link.id),
      rp: { id: rpId, name: 'Lockkeeper' },
      user: { id: hash('sha256', `person:${origin.userId}`, 'base64url'), name, displayName: name },
      pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' })),
      attestation: 'none',
      excludeCredentials: known,
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    }
    const lines = [`For ${name}. It counts once another approver confirms it with theirs, or an operator trusts it on the server.`]
    return { title: 'Add a passkey', lines, action: { label: 'Create passkey', options, creates: true } }
  }
  const request = await requestOf(app, link)
  const [title = '', ...lines] = await linesOf(app, request)
  const act = await actOf(app, request, link)
  const challenge = challengeOf(request, act, link.id)
  const options = { timeout: linkMs, challenge, rpId, allowCredentials: known, userVerification: 'required' }
  const passes = plainWords(app, passesWords(act.passed ?? [], app.freezes.lastBy))
  const why = link.reason === undefined ? [] : [`${passes} Your reason, which is posted in the channel: ${link.reason}`.trim()]
  const { title: what, button: label } = labels[to]
  return { title: `${what}: ${title}`, lines: [...lines, ...why], action: { label, options, creates: false } }
}

const labels = {
  approve: { title: 'Approve', button: 'Approve', done: 'Approved' },
  emergency: { title: 'Emergency approval', button: 'Approve now', done: 'Approved' },
  'break-glass': { title: 'Emergency approval of your own request', button: 'Approve now', done: 'Approved' },
  'start-now': { title: 'Start now', button: 'Start now', done: 'Start confirmed' },
}

/** What an emergency overrides is part of it: if that changes after the page was read, its answer no longer fits. */
async function actOf(app: App, request: Request, { to, origin, reason }: Link): Promise<ConfirmedAct> {
  if (to === 'add') throw new Error('adding a passkey confirms no act on a request')
  const { passed } = reason === undefined ? {} : await holdsIfApproved(app, request)
  return { to, by: origin.userId, reason, passed }
}

/** Throws a Refusal if the request is gone, was changed in Redis, or was decided meanwhile, also with this link. */
async function requestOf(app: App, link: Link): Promise<Request> {
  const { requestId = '', origin } = link
  const request = await app.store.find(requestId)
  if (!request) throw new Refusal('unknown-request', unknownRequest(origin.command))
  if (app.signatures.verifyRecord(request) !== 'genuine' || request.hash !== link.hash || !app.catalog.openIfFit(request))
    throw new Refusal('record-changed', changedRecord)
  if (request.state !== (link.to === 'start-now' ? 'approved' : 'waiting') || isCarriedOut(app, request, link)) throw tooLate
  return request
}

const tooLate = new Refusal(
  'too-late',
  mrkdwn`Nothing was changed: this request was approved, rejected or withdrawn in the meantime. Its message in Slack says which.`,
)

/** Whether the process that carried it out died before it said so. */
async function wasCarriedOut(app: App, link: Link): Promise<boolean> {
  const request = await app.store.find(link.requestId ?? '').catch(() => undefined)
  return request !== undefined && isCarriedOut(app, request, link)
}

function isCarriedOut({ signatures }: App, request: Request, { id }: Link): boolean {
  const { approvals, decision, startNow } = request
  const genuine = [
    ...approvals.filter((each) => signatures.verifyApproval(request, each) === 'genuine'),
    decision && signatures.verifyBreakGlass(request, decision) === 'genuine' ? decision : undefined,
    startNow && signatures.verifyStartNow(request, startNow) === 'genuine' ? startNow : undefined,
  ]
  return genuine.some((given) => given?.confirmed?.proof.link === id)
}

const Answer = z.object({ response: Assertion })
const NewAnswer = z.object({ name: z.string().default(''), response: NewPasskey })

/** Undefined for a body that no page sends. Throws a Refusal if nothing happened. */
async function takeAnswer(app: App, link: Link, body: string, adding: Change): Promise<Shown | undefined> {
  if (link.to === 'add') {
    const sent = readJson(NewAnswer, body)
    return sent && addPasskey(app, link, adding, sent)
  }
  const sent = readJson(Answer, body)
  return sent && confirm(app, link, sent.response)
}

const notConfirmed = new Refusal(
  'not-confirmed',
  mrkdwn`This passkey couldn't be verified, or something changed meanwhile. Reload this page, read it again, and use one of your own passkeys.`,
)

/** Requests it where another approver can confirm it. The first ones are trusted on the server. */
async function addPasskey(app: App, link: Link, change: Change, { name, response }: z.infer<typeof NewAnswer>): Promise<Shown> {
  const { id, origin } = link
  const { userId, channelId } = origin
  const made = await verifyNew(app, challengeToAdd(userId, id), response).catch(() => undefined)
  if (!made) throw notConfirmed
  const called = cleanText(name, { oneLine: true }).slice(0, 40).toWellFormed() || 'Passkey'
  const passkey = { ...made, by: userId, name: called, addedAt: await readClock(app) }
  const input = { passkey, requestedBy: userId }
  const requested = await app
    .submit({ change, input, origin, reason: undefined, mayLackApprovers: true, deliveryKey: `passkey-${id}` })
    .catch((error: unknown) => {
      if (!isRefused(error, 'too-few-approvers')) throw error
    })
  // Before the link is used up, which Slack shows with what follows.
  const code = requested ? '' : await keepPending(app, { passkey, channelId: channelId || userId })
  await useUp(app, link)
  const key = keyOf(passkey)
  if (!requested) {
    await app.audit.note({ act: 'passkey-pending', by: userId, text: withKey(passkey), channelId })
    const words = `Tell an operator of Lockkeeper this code, in person or by phone, within ${formatDuration(pendingMs)}. They run: npm run passkeys -- trust ${code}, which shows the key ${key}.`
    return { title: code, lines: [words] }
  }
  const { data: recorded } = Wanted.safeParse((await app.store.find(requested.requestId))?.facts)
  const first = recorded ? keyOf(recorded.passkey) : 'unknown'
  if (first !== key) throw new Refusal('out-of-date', mrkdwn`Another answer to this link came first, with the key ${first}. ${ifNotYours}`)
  const words = mrkdwn`${submittedWords(requested)} Another approver confirms it with their passkey. Tell them this key, in person or by phone.`
  return { title: `Requested: ${key}`, lines: [plainWords(app, words)] }
}

/** The link is used up by an approval. If Redis or Slack is away, it can be tried again. */
async function confirm(app: App, link: Link, assertion: Assertion): Promise<Shown> {
  const request = await requestOf(app, link)
  const passkey = passkeysOf(await readPasskeys(app), link.origin.userId).find(({ id }) => id === assertion.id)
  if (!passkey) throw notConfirmed
  const proof = proofOf(link.id, assertion)
  const act = await actOf(app, request, link)
  const counter = await verifyAssertion(app, passkey, challengeOf(request, act, link.id), proof, passkey.counter)
  if (counter === undefined) throw notConfirmed
  const count = (each: Passkey) => (each.id === passkey.id && each.counter < counter ? { ...each, counter } : each)
  if (counter > passkey.counter) await changePasskeys(app, (all) => all.map(count))
  const words = await carryOut(app, request, link, { with: 'passkey', proof })
  await useUp(app, link)
  return { title: labels[act.to].done, lines: [words.text] }
}

const seeSlack = mrkdwn`The request message in Slack shows the result. You can close this page.`

async function carryOut(app: App, request: Request, { to, origin, reason = '' }: Link, confirmed: Confirmed): Promise<Mrkdwn> {
  if (to === 'break-glass') await breakGlass(app, request, origin, reason, confirmed)
  else if (to === 'start-now') await startNow(app, request, origin, undefined, confirmed)
  else {
    const { missing, needed } = await approve(app, request, origin, { emergency: to === 'emergency' ? reason : undefined, confirmed })
    if (missing > 0) return mrkdwn`${counted({ missing, needed })} ${seeSlack}`
  }
  return seeSlack
}

/** The lines of the request message, without unsigned parts. The first is its title. */
async function linesOf(app: App, request: Request): Promise<string[]> {
  const { decision } = request
  const verify = decision?.breakGlass ? app.signatures.verifyBreakGlass : app.signatures.verifyApproved
  const isDecided = decision && verify(request, decision) === 'genuine'
  const approvals = await believedApprovals(app, request)
  const signed = {
    approvals,
    missing: undefined,
    // That it resolved would not be signed.
    newWarnings: request.warnings.flatMap((each) => (each.code === targetAlerted ? { ...each, wasFiring: true } : [])),
    waits: undefined,
    items: undefined,
    decision: isDecided ? decision : undefined,
    expiresAt: request.createdAt + request.ttlMs,
  }
  const view = viewOf(app, { ...request, ...signed })
  const texts = [...cardBody(view), ...cardRest(view)].map(wordsIn)
  await readNames(app, texts)
  return [cleanText(titleText(view), { oneLine: true }), ...texts.map((text) => plainWords(app, ownWords(text)))]
}

/** A Slack that is away does not keep people from approving: they see ids. */
async function readNames({ directory }: App, texts: string[]): Promise<void> {
  const ids = texts.flatMap((text) => [...text.matchAll(/<(?:[@#]|!subteam\^)([A-Z0-9]+)/g)].map(([, id = '']) => id))
  await settleWithin(2_000, [directory.names(ids)])
}
