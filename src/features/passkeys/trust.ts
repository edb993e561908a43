import { createInterface } from 'node:readline/promises'
import { createAudit } from '../../audit/audit.ts'
import { cleanNote, signNote } from '../../audit/chain.ts'
import { ConfigError, type Environment, readAuditConfig } from '../../config/config.ts'
import { StartError } from '../../domain/errors.ts'
import { createKeyring, type Secret } from '../../domain/signing.ts'
import { cleanText, utcTime } from '../../domain/text.ts'
import { type Redis, withRedis } from '../../redis/connect.ts'
import { createKeys } from '../../redis/key-names.ts'
import { code, mention, mrkdwn } from '../../slack/text.ts'
import { forgetPending, keyOf, readPending, withKey } from './links.ts'
import { changePasskeys, distrustWords, mostPasskeys, type PasskeysApp, readPasskeys, withOne } from './record.ts'

interface Terminal {
  write: (text: string) => void
  ask: (question: string) => Promise<string>
}

const usage = 'Usage: npm run passkeys -- trust <code> [--yes]\n'

/** Trusts a new passkey on the server, where only people with STATE_KEY are. Returns the exit code: 2 if it was used wrongly, 1 if nothing was trusted. */
export async function trust(env: Environment, args: string[], terminal: Terminal): Promise<number> {
  const { write } = terminal
  const [word, given = '', ...more] = args.filter((arg) => arg !== '--yes')
  if (word !== 'trust' || given === '' || more.length > 0) return failed(write, usage, 2)
  if (!env.STATE_KEY && !env.STATE_KEY_FILE) return failed(write, 'STATE_KEY is missing: it must be the one that the bot has.\n', 2)
  try {
    const { prefix, signingSecrets, ...redisConfig } = readAuditConfig(env)
    if (!signingSecrets) return failed(write, usage, 2)
    return await withRedis(redisConfig, (redis) =>
      trustPending(appOf(redis, prefix, signingSecrets), given.toUpperCase(), args.includes('--yes'), terminal),
    )
  } catch (error) {
    if (error instanceof ConfigError) return failed(write, `${error.lines.join('\n')}\n`, 2)
    if (error instanceof StartError) return failed(write, `Nothing was trusted: ${error.message}\n`)
    throw error
  }
}

/** Leaves its note in the intake, so that the bot adds it to the chain and prints it to its log. */
function appOf(redis: Redis, prefix: string, secrets: readonly [Secret, ...Secret[]]): PasskeysApp {
  const [keys, keyring] = [createKeys(prefix), createKeyring(secrets, { purpose: 'audit', prefix })]
  const audit = createAudit({ redis, keys, print: () => {}, keyring, onError: () => {} })
  const noteWith: typeof audit.noteWith = (note, command) => command(JSON.stringify(signNote(keyring, cleanNote(note))))
  const recordKeyring = createKeyring(secrets, { purpose: 'records', prefix })
  return { redis, keys, recordKeyring, audit: { ...audit, noteWith, chained: async () => {} } }
}

async function trustPending(app: PasskeysApp, given: string, isSure: boolean, { write, ask }: Terminal): Promise<number> {
  const pending = await readPending(app, given)
  if (!pending) return failed(write, 'Nothing was trusted: this code is wrong, was used, or is older than 15 minutes.\n')
  const { passkey, channelId } = pending
  const { by, name, addedAt } = passkey
  const { distrust } = await readPasskeys(app)
  if (distrust === 'unknown-key')
    return failed(
      write,
      `Nothing was trusted: another STATE_KEY signed the record of passkeys. If that key is gone: redis-cli del '${app.keys.passkeys}'\n`,
    )
  const warning = distrust
    ? `The record of passkeys in Redis is ${distrustWords[distrust]}. Lockkeeper starts a new one: all other passkeys have to be trusted again.\n`
    : ''
  write(`Slack user ${by}, key ${keyOf(passkey)}, made ${utcTime(addedAt)}, called: ${name}\n${warning}`)
  write('Make sure outside Slack, in person or by phone, that this person made it just now and reads you this code and key.\n')
  if (!isSure && (await ask('Type yes to trust it: ')).trim() !== 'yes') return failed(write, 'Nothing was trusted.\n')
  const words = mrkdwn`:key: ${mention(by)} has a new passkey, ${code(withKey(passkey))}. It was trusted on the server.`
  const note = { act: 'passkey-trust' as const, by, text: withKey(passkey) }
  if (!(await changePasskeys(app, (all) => withOne(all, passkey), note, { words, to: [channelId, by], startsOver: true })))
    return failed(write, `Nothing was trusted: it is trusted already, or this person has ${mostPasskeys} passkeys.\n`)
  await forgetPending(app, pending)
  write('Trusted. Slack shows it soon.\n')
  return 0
}

function failed(write: Terminal['write'], text: string, exitCode = 1): number {
  write(text)
  return exitCode
}

if (process.argv[1] === import.meta.filename) {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  // Nobody can change a signed record in Redis, but a person chose the name.
  const write = (text: string) => void process.stdout.write(cleanText(text))
  process.exitCode = await trust(process.env, process.argv.slice(2), { write, ask: (question) => lines.question(question) })
  lines.close()
}
