import { hash, randomBytes, randomInt } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { Origin } from '../../domain/approval.ts'
import { canonicalJson } from '../../domain/signing.ts'
import { guardStore } from '../../redis/connect.ts'
import type { Keys } from '../../redis/key-names.ts'
import { readClock } from '../../redis/scripts.ts'
import { open, readText, seal } from '../../redis/sealed.ts'
import { Passkey, type PasskeysApp } from './record.ts'

/** `until`: in ms since 1970 by Redis' clock. */
const kept = { id: z.string(), until: z.number() }

/** What a link is for: adding a passkey, or an act on a request. `origin` has the person. */
const Link = z.object({
  ...kept,
  to: z.enum(['add', 'approve', 'emergency', 'break-glass', 'start-now']),
  origin: Origin,
  requestId: z.string().optional(),
  hash: z.string().optional(),
  reason: z.string().optional(),
})
export type Link = z.infer<typeof Link>

/** A new passkey that waits to be trusted. `id`: the code that its page shows, or its owner. `channelId`: where its trust is announced. */
const Pending = z.object({ ...kept, passkey: Passkey, channelId: z.string() })
export type Pending = z.infer<typeof Pending>

export const linkMs = 5 * 60_000
export const pendingMs = 15 * 60_000

export const pagePath = '/passkeys'

/** The address has only the signed id. A stranger's guess is refused without a read of Redis. */
export async function createLink(app: App, facts: Omit<Link, 'id' | 'until'>): Promise<string> {
  const id = randomBytes(16).toString('base64url')
  await keep(app, 'passkey-link', { ...facts, id }, linkMs)
  return new URL(`${pagePath}/${id}.${app.recordKeyring.sign({ link: id })}`, app.config.publicUrl).href
}

/** Undefined if its time is over, if it was used, or if Lockkeeper did not make it. Reading doesn't use it up: previews and reloads read it, too. */
export async function readLink(app: App, path: string): Promise<Link | undefined> {
  const [, id = '', signature] = /^\/([\w-]{22})\.([0-9a-f]{8}\.[\w-]{43})$/.exec(path) ?? []
  return app.recordKeyring.verify({ link: id }, signature) === 'genuine' ? readKept(app, 'passkey-link', Link, id) : undefined
}

export async function useUp({ redis, keys }: PasskeysApp, { id }: Link): Promise<void> {
  await guardStore(() => redis.del(keys.ofPasskey('passkey-link', id)))
}

/** Without characters that look alike. */
const codeCharacters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** What people compare, such as `K7QM-2XPD-9RTW`. A thief chooses the id of a passkey, but finds no other one with the same 60 bits of this hash. */
export function keyOf({ id, publicKey }: Pick<Passkey, 'id' | 'publicKey'>): string {
  const bytes = hash('sha256', canonicalJson([id, publicKey]), 'buffer').subarray(0, 12)
  return inGroups(Array.from(bytes, (byte) => codeCharacters[byte % codeCharacters.length]))
}

/** Most have the name that their page proposes. */
export const withKey = (passkey: Passkey): string => `${passkey.name} (${keyOf(passkey)})`

function inGroups(characters: (string | undefined)[]): string {
  return characters.join('').replace(/.{4}(?=.)/g, '$&-')
}

/** Keeps a passkey until it is trusted, and returns its code. Slack never shows the code: who has only a session would get another's passkey trusted. */
export async function keepPending(app: PasskeysApp, facts: Pick<Pending, 'passkey' | 'channelId'>): Promise<string> {
  const code = inGroups(Array.from({ length: 8 }, () => codeCharacters[randomInt(codeCharacters.length)]))
  await keep(app, 'passkey-pending', { ...facts, id: code }, pendingMs)
  await keep(app, 'passkey-pending-of', { ...facts, id: facts.passkey.by }, pendingMs)
  return code
}

/** Undefined for a wrong or an old code. `passkey-pending-of`: the newest of the person with this id. */
export async function readPending(app: PasskeysApp, id: string, name: Exclude<Kept, 'passkey-link'> = 'passkey-pending') {
  return readKept(app, name, Pending, id)
}

export async function forgetPending({ redis, keys }: PasskeysApp, { id, passkey: { by } }: Pending): Promise<void> {
  await redis.del(keys.ofPasskey('passkey-pending', id), keys.ofPasskey('passkey-pending-of', by))
}

type Kept = Parameters<Keys['ofPasskey']>[0]

async function keep(app: PasskeysApp, name: Kept, facts: { id: string }, ms: number): Promise<void> {
  const sealed = seal(app.recordKeyring, name, { ...facts, until: (await readClock(app)) + ms })
  await guardStore(() => app.redis.set(app.keys.ofPasskey(name, facts.id), sealed, 'PX', ms))
}

/** Undefined for what Lockkeeper did not keep under this id. The signed end counts, however long Redis keeps it. */
async function readKept<Facts extends { id: string; until: number }>(app: PasskeysApp, name: Kept, schema: z.ZodType<Facts>, id: string) {
  const [text, now] = await Promise.all([readText(app.redis, app.keys.ofPasskey(name, id)), readClock(app)])
  const found = open(app.recordKeyring, name, schema, text)
  return found.is === 'genuine' && found.facts.id === id && now < found.facts.until ? found.facts : undefined
}
