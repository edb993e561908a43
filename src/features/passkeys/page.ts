import { hash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { reportInWords } from '../../bolt/errors.ts'
import type { Change } from '../../domain/change.ts'
import { StoreUnavailableError, UserError } from '../../domain/errors.ts'
import type { Confirmed, Request } from '../../domain/request.ts'
import { cleanText, formatDuration } from '../../domain/text.ts'
import { settleWithin } from '../../domain/within.ts'
import { approve, breakGlass, startNow } from '../../life/decide.ts'
import { titleBlocks } from '../../messages/request-content.ts'
import { cardBody, cardRest } from '../../messages/request-message.ts'
import { submittedWords } from '../../messages/submit-words.ts'
import { counted } from '../../messages/why-not.ts'
import { viewOf } from '../../outbox/render.ts'
import { noteRefused } from '../../rights/authorize.ts'
import { wordsIn } from '../../slack/blocks.ts'
import { isRefused, Refusal } from '../../slack/errors.ts'
import type { Page, PageAnswer } from '../../slack/http-receiver.ts'
import { type Mrkdwn, mrkdwn, ownWords, toPlainText } from '../../slack/text.ts'
import type { addPasskeyChange } from './adding.ts'
import { Assertion, algorithms, challengeOf, challengeToAdd, partyOf, proofOf, verifyAssertion, verifyNew } from './ceremony.ts'
import { keepPending, type Link, pagePath, pendingMs, readLink, useUp } from './links.ts'
import { countUse, mostPasskeys, passkeysOf, readPasskeys, timeOf } from './record.ts'

const template = new URL('page.html', import.meta.url)
/** Built for a page without a bundler. The package exports only its modules. */
const bundle = '../dist/bundle/index.umd.min.js'

/** What people see besides the request itself. */
interface Shown {
  title: string
  lines: string[]
  /** The button, and what it does. Absent: there is nothing to do. */
  action?: { label: string; options: object; creates: boolean }
}

/** The page on which a person confirms an act, or adds a passkey. */
export function passkeyPage(app: App, adding: Adding): Page {
  const html = readFileSync(template, 'utf8')
  const script = readFileSync(join(dirname(createRequire(import.meta.url).resolve('@simplewebauthn/browser')), bundle), 'utf8')

  async function answer({ method, headers }: Parameters<Page['answer']>[0], path: string, body: string): Promise<PageAnswer> {
    const isRead = method === 'GET' || method === 'HEAD'
    if (isRead && path === '/webauthn.js') return { status: 200, headers: { ...safe, 'content-type': 'text/javascript' }, body: script }
    if (isRead && (path === '' || path === '/')) return render({ title: 'Lockkeeper', lines: [nothingHere] })
    if (!isRead && (method !== 'POST' || headers.origin !== partyOf(app).origin || headers['content-type'] !== 'application/json'))
      return { status: method === 'POST' ? 403 : 405, headers: safe }
    let link: Link | undefined
    try {
      link = await readLink(app, path)
      if (!link) return isRead ? render({ title: linkOver, lines: [linkOverWords] }, 404) : json(404, linkOver, linkOverWords)
      if (isRead) return render(await shownFor(app, link))
      return json(200, ...(await takeAnswer(app, link, body, adding)), true)
    } catch (error) {
      const words = await inWords(app, error, link)
      const status = error instanceof StoreUnavailableError ? 503 : error instanceof UserError ? 409 : 500
      return isRead ? render({ title: 'Lockkeeper', lines: [words] }, status) : json(status, 'Nothing was approved', words)
    }
  }

  function render({ title, lines, action }: Shown, status = 200): PageAnswer {
    const nonce = randomBytes(16).toString('base64')
    const values: Record<string, string> = {
      nonce,
      command: escapeHtml(app.config.slack.command),
      title: escapeHtml(title),
      lines: lines.map((line) => `<p>${escapeHtml(line).replaceAll('\n', '<br>')}</p>`).join('\n'),
      label: escapeHtml(action?.label ?? ''),
      shown: String(action !== undefined),
      named: String(action?.creates ?? false),
      creates: String(action?.creates ?? false),
      options: escapeHtml(JSON.stringify(action?.options ?? {})),
    }
    const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
    const headersOfPage = { ...safe, 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }
    return { status, headers: headersOfPage, body: html.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '') }
  }

  return { path: pagePath, answer }
}

/** Nothing keeps a page with a link, nothing else shows it, and no other page learns its address. */
const safe = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const nothingHere = 'Confirm a request with the link that Lockkeeper gives you in Slack.'
const linkOver = 'This link has expired'
const linkOverWords = 'It was used already, or it is older than 5 minutes. Press the button in Slack again.'

function json(status: number, title: string, words: string, isDone = false): PageAnswer {
  return { status, headers: { ...safe, 'content-type': 'application/json' }, body: JSON.stringify({ title, words, isDone }) }
}

/** A refusal is noted in the audit, like one of a click. */
async function inWords(app: App, error: unknown, link: Link | undefined): Promise<string> {
  const at = `page ${link?.to ?? 'unknown'}`
  if (error instanceof UserError && link?.requestId !== undefined)
    await noteRefused(app, link.origin, { at, code: error.code, requestId: link.requestId }).catch(app.errors.of('audit'))
  return toPlainText(await reportInWords(app, error, { at, origin: link?.origin }), app.directory.knownName)
}

async function shownFor(app: App, link: Link): Promise<Shown> {
  const { to, origin } = link
  const found = await readPasskeys(app)
  const own = passkeysOf(found, origin.userId)
  const { rpId } = partyOf(app)
  const known = own.map(({ id, transports }) => ({ id, type: 'public-key', transports }))
  const common = { timeout: 5 * 60_000 }
  if (to === 'add') {
    requireRoom(own.length)
    await settleWithin(namesMs, [app.directory.names([origin.userId])])
    const name = app.directory.knownName(origin.userId) ?? origin.userId
    const options = {
      ...common,
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
  if (isCarriedOut(request, link)) return { title: labels[to].done, lines: [seeSlack.text] }
  const facts = await linesOf(app, request)
  const challenge = challengeOf(request, actOf(link), link.id)
  const options = { ...common, challenge, rpId, allowCredentials: known, userVerification: 'required' }
  const why = link.reason === undefined ? [] : [`Your reason, which is posted in the channel: ${link.reason}`]
  return {
    title: `${labels[to].title}: ${facts[0] ?? ''}`,
    lines: [...facts.slice(1), ...why],
    action: { label: labels[to].button, options, creates: false },
  }
}

const labels = {
  approve: { title: 'Approve', button: 'Approve', done: 'Approved' },
  emergency: { title: 'Emergency approval', button: 'Approve now', done: 'Approved' },
  'break-glass': { title: 'Emergency approval of your own request', button: 'Approve now', done: 'Approved' },
  'start-now': { title: 'Start now', button: 'Start now', done: 'Started' },
}

function actOf({ to, origin, reason }: Link) {
  if (to === 'add') throw new Error('adding a passkey confirms no act on a request')
  return { to, by: origin.userId, reason }
}

function requireRoom(count: number): void {
  if (count >= mostPasskeys)
    throw new Refusal('too-many-passkeys', mrkdwn`You have ${mostPasskeys} passkeys, which is the limit. Remove one first.`)
}

/** Throws a Refusal if the request is gone, was changed in Redis, or was decided meanwhile. */
async function requestOf(app: App, link: Link): Promise<Request> {
  const { requestId = '' } = link
  const request = await app.store.find(requestId)
  if (!request) throw new Refusal('unknown-request', mrkdwn`Lockkeeper no longer has this request.`)
  if (app.signatures.verifyRecord(request) !== 'genuine' || !app.catalog.openIfFit(request))
    throw new Refusal('record-changed', mrkdwn`The record of this request doesn't match what was requested. Tell Lockkeeper's operators.`)
  if (!isCarriedOut(request, link) && request.state !== (link.to === 'start-now' ? 'approved' : 'waiting'))
    throw new Refusal(
      'too-late',
      mrkdwn`Nothing was changed: somebody else approved, rejected or withdrew this request in the meantime. Its message in Slack says which.`,
    )
  return request
}

/** The process that carried it out may have died before it said so. */
function isCarriedOut({ approvals, decision, startNow }: Request, { id }: Link): boolean {
  return [...approvals, decision, startNow].some((given) => given?.confirmed?.proof.link === id)
}

type Adding = ReturnType<typeof addPasskeyChange>

const Sent = z.object({ name: z.string().optional(), response: z.unknown() })

/** Returns a title and what happened. Throws a Refusal if nothing did. */
async function takeAnswer(app: App, link: Link, body: string, adding: Adding): Promise<[title: string, words: string]> {
  const sent = Sent.safeParse(parsed(body))
  if (!sent.success) throw notConfirmed
  return link.to === 'add' ? addPasskey(app, link, adding, sent.data) : confirm(app, link, sent.data.response)
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const notConfirmed = new Refusal('not-confirmed', mrkdwn`This passkey couldn't be verified. Use one of your own passkeys, and try again.`)

/** Requests it where another approver can confirm it. The first ones are trusted on the server. */
async function addPasskey(app: App, link: Link, change: Adding, { name, response }: z.infer<typeof Sent>): Promise<[string, string]> {
  const { userId, channelId } = link.origin
  const found = await readPasskeys(app)
  requireRoom(passkeysOf(found, userId).length)
  const made = await verifyNew(app, challengeToAdd(userId, link.id), response)
  if (!made) throw notConfirmed
  const called =
    cleanText(name ?? '', { oneLine: true })
      .trim()
      .slice(0, 40)
      .toWellFormed() || 'Passkey'
  const passkey = { ...made, by: userId, name: called, addedAt: await timeOf(app) }
  const wanted = { change: change as Change, input: { passkey }, origin: link.origin, reason: undefined, deliveryKey: `passkey-${link.id}` }
  // Of a record that is not believed, nobody has a passkey to confirm it with.
  const submitting = found.distrust ? Promise.resolve(undefined) : app.submit(wanted)
  const requested = await submitting.catch((error: unknown) => {
    if (!isRefused(error, 'too-few-approvers')) throw error
  })
  await useUp(app, link)
  if (requested)
    return [
      'Requested',
      toPlainText(mrkdwn`${submittedWords(requested)} Another approver confirms it with their passkey.`, app.directory.knownName),
    ]
  const code = await keepPending(app, { passkey, channelId: channelId || userId })
  return [
    code,
    `Tell an operator of Lockkeeper this code, in person or by phone, within ${formatDuration(pendingMs)}. They run: npm run passkeys -- trust ${code}`,
  ]
}

/** The link is used up by an approval. If Redis or Slack is away, it can be tried again. */
async function confirm(app: App, link: Link, response: unknown): Promise<[string, string]> {
  const request = await requestOf(app, link)
  const assertion = Assertion.safeParse(response).data
  const found = await readPasskeys(app)
  const passkey = assertion && passkeysOf(found, link.origin.userId).find(({ id }) => id === assertion.id)
  if (!passkey) throw notConfirmed
  const proof = proofOf(link.id, assertion)
  const counter = await verifyAssertion(app, passkey, challengeOf(request, actOf(link), link.id), proof, passkey.counter)
  if (counter === undefined) throw notConfirmed
  if (counter > passkey.counter) await countUse(app, passkey, counter)
  const words = isCarriedOut(request, link) ? seeSlack : await carryOut(app, request, link, { with: 'passkey', proof })
  await useUp(app, link)
  return [labels[actOf(link).to].done, toPlainText(words)]
}

const seeSlack = mrkdwn`The request message in Slack shows it. You can close this page.`

async function carryOut(app: App, request: Request, { to, origin, reason = '' }: Link, confirmed: Confirmed): Promise<Mrkdwn> {
  if (to === 'break-glass') await breakGlass(app, request, origin, reason, confirmed)
  else if (to === 'start-now') await startNow(app, request, origin, undefined, confirmed)
  else {
    const { missing, needed } = await approve(app, request, origin, { emergency: to === 'emergency' ? reason : undefined, confirmed })
    if (missing > 0) return mrkdwn`${counted({ missing, needed })} ${seeSlack}`
  }
  return seeSlack
}

/** The words of the request message, in lines. The first is its title. */
async function linesOf(app: App, request: Request): Promise<string[]> {
  const view = viewOf(app, request)
  const texts = [...titleBlocks(view), ...cardBody(view), ...cardRest(view)].map(wordsIn)
  const ids = texts.flatMap((text) => [...text.matchAll(/<(?:[@#]|!subteam\^)([A-Z0-9]+)/g)].map(([, id = '']) => id))
  await settleWithin(namesMs, [app.directory.names([...new Set(ids)])])
  return texts.map((text) => toPlainText(ownWords(readable(text)), app.directory.knownName))
}

/** A Slack that is away does not keep people from approving: they see ids. */
const namesMs = 2_000

const emoji: Record<string, string> = { warning: '⚠️', rotating_light: '🚨', ballot_box_with_check: '☑️', hourglass_flowing_sand: '⏳' }

function readable(text: string): string {
  const named = text.replace(/<https:[^|>]*\.slack\.com\/team\/\w+\|(@[^>]*)>/g, '$1')
  return named.replace(/<(https?:[^|>]*)\|([^>]*)>/g, '$2 ($1)').replace(/:(\w+):/g, (all, name: string) => emoji[name] ?? all)
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}
