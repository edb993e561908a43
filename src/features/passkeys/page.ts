import { hash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { reportInWords } from '../../bolt/errors.ts'
import type { Change } from '../../domain/change.ts'
import { StoreUnavailableError, UserError } from '../../domain/errors.ts'
import type { Confirmed, Request } from '../../domain/request.ts'
import { cleanText, formatDuration } from '../../domain/text.ts'
import { settleWithin } from '../../domain/within.ts'
import { approve, believedApprovals, breakGlass, startNow } from '../../life/decide.ts'
import { titleBlocks } from '../../messages/request-content.ts'
import { cardBody, cardRest } from '../../messages/request-message.ts'
import { passesWords } from '../../messages/request-words.ts'
import { submittedWords } from '../../messages/submit-words.ts'
import { counted } from '../../messages/why-not.ts'
import { viewOf } from '../../outbox/render.ts'
import { noteRefused } from '../../rights/authorize.ts'
import type { ConfirmedAct } from '../../rights/confirmation.ts'
import { holdsIfApproved } from '../../rights/times.ts'
import { wordsIn } from '../../slack/blocks.ts'
import { isRefused, Refusal } from '../../slack/errors.ts'
import type { Page, PageAnswer } from '../../slack/http-receiver.ts'
import { readJson } from '../../slack/payloads.ts'
import { type Mrkdwn, mrkdwn, ownWords, quotation, toPlainText } from '../../slack/text.ts'
import { Assertion, algorithms, challengeOf, challengeToAdd, partyOf, proofOf, verifyAssertion, verifyNew } from './ceremony.ts'
import { addPasskeyChange, Wanted } from './changes.ts'
import { keepPending, keyOf, type Link, pagePath, pendingMs, readLink, useUp } from './links.ts'
import { changePasskeys, type Passkey, passkeysOf, readPasskeys, requireRoom, timeOf } from './record.ts'

const template = new URL('page.html', import.meta.url)
/** Built for a page without a bundler. The package exports only its modules. */
const bundle = new URL('../dist/bundle/index.umd.min.js', import.meta.resolve('@simplewebauthn/browser'))

/** What people see besides the request itself. */
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
    if (isRead && path === '/webauthn.js') return { status: 200, headers: { 'content-type': 'text/javascript' }, body: script }
    if (isRead && (path === '' || path === '/')) return render({ title: 'Lockkeeper', lines: [nothingHere] })
    if (!isRead && (method !== 'POST' || headers.origin !== partyOf(app).origin || headers['content-type'] !== 'application/json'))
      return { status: method === 'POST' ? 403 : 405 }
    let link: Link | undefined
    try {
      link = await readLink(app, path)
      if (!link) return isRead ? render({ title: linkOver, lines: [linkOverWords] }, 404) : json(404, linkOver, linkOverWords)
      if (isRead) return render(await shownFor(app, link))
      return json(200, ...(await takeAnswer(app, link, body, adding)), true)
    } catch (error) {
      // A process that died after it approved leaves an answer that is sent again, and may be refused then.
      if (!isRead && link && link.to !== 'add' && (await wasCarriedOut(app, link).catch(() => false)))
        return json(200, labels[link.to].done, seeSlack.text, true)
      const words = await inWords(app, error, link, isRead)
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
    const headersOfPage = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }
    return { status, headers: headersOfPage, body: html.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '') }
  }

  return { path: pagePath, answer }
}

const nothingHere = 'Confirm a request with the link that Lockkeeper gives you in Slack.'
const ifNotYours = "If a passkey is requested under your name that isn't yours, withdraw that request, and tell Lockkeeper's operators."
const linkOver = 'This link has expired'
const linkOverWords = `It was used already, or it is older than 5 minutes. Press the button in Slack again. ${ifNotYours}`

function json(status: number, title: string, words: string, isDone = false): PageAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ title, words, isDone }) }
}

/** A refusal is noted in the audit, like one of a click. A preview that reads the page tries nothing. */
async function inWords(app: App, error: unknown, link: Link | undefined, isRead: boolean): Promise<string> {
  const at = `page ${link?.to ?? 'unknown'}`
  if (error instanceof UserError && link?.requestId !== undefined && !isRead)
    await noteRefused(app, link.origin, error, { at, requestId: link.requestId }).catch(app.errors.of('audit'))
  return toPlainText(await reportInWords(app, error, { at, origin: link?.origin }), namesIn(app))
}

async function shownFor(app: App, link: Link): Promise<Shown> {
  const { to, origin } = link
  const found = await readPasskeys(app)
  const own = passkeysOf(found, origin.userId)
  const { rpId } = partyOf(app)
  const known = own.map(({ id, transports }) => ({ id, type: 'public-key', transports }))
  const common = { timeout: 5 * 60_000 }
  if (to === 'add') {
    requireRoom(found, origin.userId)
    await settleWithin(namesMs, [app.directory.names([origin.userId])])
    const name = namesIn(app)(origin.userId) ?? origin.userId
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
  if (isCarriedOut(app, request, link)) return { title: labels[to].done, lines: [seeSlack.text] }
  const facts = await linesOf(app, request)
  const act = await actOf(app, request, link)
  const challenge = challengeOf(request, act, link.id)
  const options = { ...common, challenge, rpId, allowCredentials: known, userVerification: 'required' }
  const passes = toPlainText(passesWords(act.passed ?? [], app.freezes.lastRead()?.record?.by), namesIn(app))
  const why = link.reason === undefined ? [] : [`${passes}Your reason, which is posted in the channel: ${link.reason}`]
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

/** What an emergency passes is part of it: if that changes after the page was read, its answer no longer fits. */
async function actOf(app: App, request: Request, { to, origin, reason }: Link): Promise<ConfirmedAct> {
  if (to === 'add') throw new Error('adding a passkey confirms no act on a request')
  const { passed } = reason === undefined ? {} : await holdsIfApproved(app, request)
  return { to, by: origin.userId, reason, passed }
}

/** Throws a Refusal if the request is gone, was changed in Redis, or was decided meanwhile. */
async function requestOf(app: App, link: Link): Promise<Request> {
  const { requestId = '' } = link
  const request = await app.store.find(requestId)
  if (!request) throw new Refusal('unknown-request', mrkdwn`Lockkeeper no longer has this request.`)
  if (app.signatures.verifyRecord(request) !== 'genuine' || !app.catalog.openIfFit(request))
    throw new Refusal('record-changed', mrkdwn`The record of this request doesn't match what was requested. Tell Lockkeeper's operators.`)
  if (!isCarriedOut(app, request, link) && request.state !== (link.to === 'start-now' ? 'approved' : 'waiting'))
    throw new Refusal(
      'too-late',
      mrkdwn`Nothing was changed: somebody else approved, rejected or withdrew this request in the meantime. Its message in Slack says which.`,
    )
  return request
}

/** The process that carried it out may have died before it said so. */
function isCarriedOut({ signatures }: App, request: Request, { id }: Link): boolean {
  const { approvals, decision, startNow } = request
  const genuine = [
    ...approvals.filter((each) => signatures.verifyApproval(request, each) === 'genuine'),
    decision && signatures.verifyBreakGlass(request, decision) === 'genuine' ? decision : undefined,
    startNow && signatures.verifyStartNow(request, startNow) === 'genuine' ? startNow : undefined,
  ]
  return genuine.some((given) => given?.confirmed?.proof.link === id)
}

async function wasCarriedOut(app: App, link: Link): Promise<boolean> {
  return isCarriedOut(app, await requestOf(app, link), link)
}

const Sent = z.object({ name: z.string().optional(), response: z.unknown() })

/** Returns a title and what happened. Throws a Refusal if nothing did. */
async function takeAnswer(app: App, link: Link, body: string, adding: Change): Promise<[title: string, words: string]> {
  const sent = readJson(Sent, body)
  if (!sent) throw notConfirmed
  return link.to === 'add' ? addPasskey(app, link, adding, sent) : confirm(app, link, sent.response)
}

const notConfirmed = new Refusal(
  'not-confirmed',
  mrkdwn`This passkey couldn't be verified, or something changed meanwhile. Reload this page, read it again, and use one of your own passkeys.`,
)

/** Requests it where another approver can confirm it. The first ones are trusted on the server. */
async function addPasskey(app: App, link: Link, change: Change, { name, response }: z.infer<typeof Sent>): Promise<[string, string]> {
  const { userId, channelId } = link.origin
  const found = await readPasskeys(app)
  requireRoom(found, userId)
  const made = await verifyNew(app, challengeToAdd(userId, link.id), response).catch(() => undefined)
  if (!made) throw notConfirmed
  const typed = cleanText(name ?? '', { oneLine: true }).trim()
  const passkey = { ...made, by: userId, name: typed.slice(0, 40).toWellFormed() || 'Passkey', addedAt: await timeOf(app) }
  const input = { passkey, requestedBy: userId }
  // Of a record that is not believed, nobody has a passkey to confirm it with.
  const submitting = found.distrust
    ? Promise.resolve(undefined)
    : app.submit({ change, input, origin: link.origin, reason: undefined, deliveryKey: `passkey-${link.id}` })
  const requested = await submitting.catch((error: unknown) => {
    if (!isRefused(error, 'too-few-approvers')) throw error
  })
  const key = keyOf(passkey)
  if (requested) {
    const { data: recorded } = Wanted.safeParse((await app.store.find(requested.requestId))?.facts)
    const first = recorded ? keyOf(recorded.passkey) : 'unknown'
    if (first !== key)
      throw new Refusal('out-of-date', mrkdwn`Another answer to this link came first, with the key ${first}. ${ifNotYours}`)
    await useUp(app, link)
    const words = mrkdwn`${submittedWords(requested)} Another approver confirms it with their passkey. Tell them this key, in person or by phone.`
    return [`Requested: ${key}`, toPlainText(words, namesIn(app))]
  }
  await useUp(app, link)
  const code = await keepPending(app, { passkey, channelId: channelId || userId })
  const within = formatDuration(pendingMs)
  return [
    code,
    `Tell an operator of Lockkeeper this code, in person or by phone, within ${within}. They run: npm run passkeys -- trust ${code}, which shows the key ${key}.`,
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
  const act = await actOf(app, request, link)
  const counter = await verifyAssertion(app, passkey, challengeOf(request, act, link.id), proof, passkey.counter)
  if (counter === undefined) throw notConfirmed
  const count = (each: Passkey) => (each.id === passkey.id && each.counter < counter ? { ...each, counter } : each)
  if (counter > passkey.counter) await changePasskeys(app, (all) => all.map(count))
  const words = isCarriedOut(app, request, link) ? seeSlack : await carryOut(app, request, link, { with: 'passkey', proof })
  await useUp(app, link)
  return [labels[act.to].done, toPlainText(words)]
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

/** The lines of the request message, without unsigned parts. The first is its title. */
async function linesOf(app: App, request: Request): Promise<string[]> {
  const { decision } = request
  const verify = decision?.breakGlass ? app.signatures.verifyBreakGlass : app.signatures.verifyApproved
  const isDecided = decision && verify(request, decision) === 'genuine'
  const approvals = await believedApprovals(app, request)
  const signed = { approvals, missing: undefined, newWarnings: [], decision: isDecided ? decision : undefined }
  const view = viewOf(app, { ...request, ...signed })
  const texts = [...titleBlocks(view), ...cardBody(view), ...cardRest(view)].map(wordsIn)
  const ids = texts.flatMap((text) => [...text.matchAll(/<(?:[@#]|!subteam\^)([A-Z0-9]+)/g)].map(([, id = '']) => id))
  await settleWithin(namesMs, [app.directory.names([...new Set(ids)])])
  return texts.map((text) => toPlainText(ownWords(readable(text)), namesIn(app)))
}

/** A name that somebody chose passes for no sentence. */
function namesIn({ directory }: App): (id: string) => string | undefined {
  return (id) => {
    const [, mark = '', name] = /^([@#]?)([\s\S]*)/.exec(directory.knownName(id) ?? '') ?? []
    return name ? `${mark}${/^[\p{L}\d._-]+$/u.test(name) ? name : toPlainText(quotation(name))}` : undefined
  }
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
