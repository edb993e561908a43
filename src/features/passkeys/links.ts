import { randomBytes, randomInt } from 'node:crypto'
import { z } from 'zod'
import type { App } from '../../app.ts'
import { Origin } from '../../domain/approval.ts'
import { guardStore } from '../../redis/connect.ts'
import { open, readText, seal } from '../../redis/sealed.ts'
import { Passkey, type PasskeysApp, timeOf } from './record.ts'

/** What a link is for: adding a passkey, or an act on a request. `origin` has the person. `until`: in ms since 1970 by Redis' clock. */
const Link = z.object({
  id: z.string(),
  to: z.enum(['add', 'approve', 'emergency', 'break-glass', 'start-now']),
  origin: Origin,
  requestId: z.string().optional(),
  reason: z.string().optional(),
  until: z.number(),
})
export type Link = z.infer<typeof Link>

/** A passkey that nobody has trusted yet, under the code that its page shows. `channelId`: where that is told. */
const Pending = z.object({ code: z.string(), passkey: Passkey, channelId: z.string(), until: z.number() })
export type Pending = z.infer<typeof Pending>

export const linkMs = 5 * 60_000
export const pendingMs = 15 * 60_000

export const pagePath = '/passkeys'

/** Its address has the signed id alone. A stranger's guess is refused without a read of Redis. */
export async function createLink(app: App, facts: Omit<Link, 'id' | 'until'>): Promise<string> {
  const id = randomBytes(16).toString('base64url')
  const link: Link = { ...facts, id, until: (await timeOf(app)) + linkMs }
  await guardStore(() => app.redis.set(app.keys.passkeyLink(id), seal(app.recordKeyring, 'passkey-link', link), 'PX', linkMs))
  return new URL(`${pagePath}/${id}.${app.recordKeyring.sign({ link: id })}`, app.config.publicUrl).href
}

/** Undefined if its time is over, if it was used, or if Lockkeeper did not make it. Reading it uses nothing up: previews and reloads read it, too. */
export async function readLink(app: App, path: string): Promise<Link | undefined> {
  const [, id = '', signature] = /^\/([\w-]{22})\.([0-9a-f]{8}\.[\w-]{43})$/.exec(path) ?? []
  if (app.recordKeyring.verify({ link: id }, signature) !== 'genuine') return undefined
  const found = open(app.recordKeyring, 'passkey-link', Link, await readText(app.redis, app.keys.passkeyLink(id)))
  return found.is === 'genuine' && found.facts.id === id && (await timeOf(app)) < found.facts.until ? found.facts : undefined
}

export async function useUp({ redis, keys }: PasskeysApp, { id }: Link): Promise<void> {
  await guardStore(() => redis.del(keys.passkeyLink(id)))
}

/** Without characters that look alike. */
const codeCharacters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** Keeps a passkey until somebody trusts it, and returns its code. */
export async function keepPending(app: PasskeysApp, facts: Pick<Pending, 'passkey' | 'channelId'>): Promise<string> {
  const characters = Array.from({ length: 8 }, () => codeCharacters[randomInt(codeCharacters.length)])
  const code = characters.join('').replace(/(?<=^.{4})/, '-')
  const pending: Pending = { ...facts, code, until: (await timeOf(app)) + pendingMs }
  const sealed = seal(app.recordKeyring, 'passkey-pending', pending)
  await guardStore(() => app.redis.set(app.keys.passkeyPending(code), sealed, 'PX', pendingMs))
  return code
}

/** Undefined for a wrong or an old code, and for a record that Lockkeeper did not write for this code. */
export async function readPending(app: PasskeysApp, code: string): Promise<Pending | undefined> {
  const found = open(app.recordKeyring, 'passkey-pending', Pending, await readText(app.redis, app.keys.passkeyPending(code)))
  return found.is === 'genuine' && found.facts.code === code && (await timeOf(app)) < found.facts.until ? found.facts : undefined
}
