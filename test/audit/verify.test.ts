import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { chain, hashOf, signNote } from '../../src/audit/chain.ts'
import { checkAudit as verify } from '../../src/audit/verification.ts'
import { auditSigning } from '../given/audit.ts'
import { connectTestRedis } from '../given/redis.ts'
import { expectDocument } from '../messages/documents.ts'
import { botProgram } from '../sandbox/bot-process.ts'
import { systemEnvironment } from '../sandbox/programs.ts'
import { envOf, putNote, rechain, rewrite, type Six, sixEntries, textsOf } from './six-entries.ts'

/** Runs the program as `npm run audit:verify` does. */
function runProgram(env: Record<string, string>, log?: string[]): Promise<{ exitCode: number; output: string }> {
  return new Promise((done) => {
    const args = [botProgram('verify'), ...(log ? ['-'] : [])]
    const program = execFile(process.execPath, args, { env: { ...systemEnvironment(), ...env } }, (error, stdout, stderr) => {
      done({ exitCode: error ? Number(error.code) : 0, output: stdout + stderr })
    })
    program.stdin?.end(log?.join('\n'))
  })
}

async function writeLog(lines: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'audit.log')
  await writeFile(path, `${lines.join('\n')}\n`)
  return path
}

/** Sets the audit back to its first entries, as a copy that is restored does. The process that made them runs on, and notes one more. */
async function setBack({ redis, keys, audit }: Six, kept: number): Promise<void> {
  const entries = (await redis.xrange(keys.audit, '-', '+')).slice(0, kept)
  await redis.del(keys.audit, keys.auditHead)
  for (const [id, [, text = '']] of entries) {
    await redis.xadd(keys.audit, id, 'entry', text)
    await redis.hset(keys.auditHead, { seq: JSON.parse(text).seq, hash: hashOf(text) })
  }
  await audit.note({ act: 'read' })
  await audit.tidy()
}

/** Notes a loss as Lockkeeper does, and three more entries. */
async function noteLoss({ audit }: Six, code: string): Promise<void> {
  await audit.note({ act: 'freeze', causes: [{ code }] })
  for (const act of ['request', 'approve', 'send']) await audit.note({ act })
  await audit.tidy()
}

const replaced = (from: string, to: string) => (texts: string[]) => texts.map((text) => text.replace(from, to))
const swap = <T>([a, b, c, d, ...rest]: T[]) => [a, c, b, d, ...rest].filter((one) => one !== undefined)
const withoutKey: Given = { env: { STATE_KEY: '' } }

/** With correct hashes, and another person as the one who sent. */
const bySomebodyElse = (six: Six) =>
  rechain(six, (entries) => entries.map((one) => (one.act === 'send' ? { ...one, by: 'U0BEN00001' } : one)))

async function exchangedNotes(six: Six) {
  const [first = ''] = await textsOf(six)
  const { seq, prev, ...note } = JSON.parse(first)
  const { keyring } = auditSigning({ keys: 'another-key-of-32-characters-or-more', prefix: six.prefix })
  for (const one of [note, { ...note, act: 'approve' }, signNote(keyring, { act: 'approve' })]) await putNote(six, JSON.stringify(one))
  await six.audit.tidy()
}

async function lossNotedAgain(six: Six) {
  await noteLoss(six, 'set-back')
  const { seq, prev, at, ...genuine } = JSON.parse((await textsOf(six)).find((entry) => entry.includes('"set-back"')) ?? '')
  await putNote(six, JSON.stringify({ ...genuine, noteId: 'another' }))
  await six.redis.xadd(six.keys.auditIntake, '*', 'note', JSON.stringify(genuine), 'at', String(at))
  await six.audit.tidy()
}

/** How entries are verified. */
interface Given {
  env?: Record<string, string>
  logs?: string[][]
}

/** What became of six entries. They are verified with the key and without a log, unless this returns something else. */
const situations: Record<string, (six: Six) => Promise<unknown>> = {
  'Nothing happened to them': async () => {},
  'There are none': async () => ({ env: envOf(connectTestRedis()) }),
  'Signatures are not checked, without a key': async () => withoutKey,
  'With INFRA_API_KEY in place of STATE_KEY': async ({ env }) => ({ env: { STATE_KEY: '', INFRA_API_KEY: env.STATE_KEY } }),
  'A text was changed': (six) => rewrite(six, replaced('"accept"', '"reject"')),
  'The last text was changed': (six) => rewrite(six, replaced('"finish"', '"reject"')),
  'One cannot be read': (six) => rewrite(six, (texts) => texts.with(2, 'x')),
  'One was removed': (six) => rewrite(six, (texts) => texts.toSpliced(2, 1)),
  'One was removed, without a key': async (six) => {
    await rewrite(six, (texts) => texts.toSpliced(2, 1))
    return withoutKey
  },
  'One was put in': (six) => rewrite(six, (all) => all.toSpliced(2, 0, chain({ act: 'approve', at: 1 }, 3, hashOf(all[1] ?? '')))),
  'Two were exchanged': (six) => rewrite(six, swap),
  'The beginning was removed': (six) => rewrite(six, (texts) => texts.slice(1)),
  'The beginning was removed, with a note that it was old': async (six) => {
    await putNote(six, '{"version":1,"act":"trim","through":2}')
    await six.audit.tidy()
    await six.redis.xtrim(six.keys.audit, 'MAXLEN', 5)
  },
  'The end was removed': (six) => rewrite(six, (texts) => texts.slice(0, 4)),
  'All were removed': (six) => six.redis.del(six.keys.audit),
  'The head was set back': (six) => six.redis.hset(six.keys.auditHead, 'seq', '4'),
  'The head has another hash': (six) => six.redis.hset(six.keys.auditHead, 'hash', 'x'),
  'The head was removed': (six) => six.redis.del(six.keys.auditHead),
  'A copy is in the place of one, with correct hashes': (six) => rechain(six, (all) => all.with(2, all[1] ?? {})),
  'One names another person, with correct hashes': bySomebodyElse,
  'One names another person, with correct hashes, without a key': async (six) => {
    await bySomebodyElse(six)
    return withoutKey
  },
  'One names another person, with correct hashes, without a key and with the log': async (six) => {
    await bySomebodyElse(six)
    return { ...withoutKey, logs: [six.lines] }
  },
  'A copy of a note, a forged one and one with an unknown key were put in': exchangedNotes,
  'A note of long ago is not chained': async ({ redis, keys }) => {
    await redis.del(keys.auditIntake)
    await redis.xadd(keys.auditIntake, `${Date.parse('2026-01-02T03:04:05Z')}-0`, 'note', '{"act":"request","at":1}')
  },
  'Redis lost all of them, and Lockkeeper noticed it': async (six) => {
    await setBack(six, 0)
    await noteLoss(six, 'data-lost')
  },
  'Redis went back to two, and Lockkeeper noticed it': async (six) => {
    await setBack(six, 2)
    await noteLoss(six, 'set-back')
  },
  'Somebody without the key notes a loss, and notes one again': lossNotedAgain,
  'Redis went back to three, with the log from before and after it': async (six) => {
    await setBack(six, 3)
    await noteLoss(six, 'set-back')
    return { logs: [six.lines] }
  },
  'Redis went back to three, with a log that begins after it': async (six) => {
    await setBack(six, 3)
    await noteLoss(six, 'set-back')
    return { logs: [six.lines.slice(6)] }
  },
  'With the logs of all replicas, as a collector keeps them': async ({ lines }) => {
    const collected = lines.map((line) => `2026-11-21T07:00:00Z stdout ${line}`)
    const others = ['{"level":"info","msg":"Lockkeeper is ready"}', 'not JSON']
    return {
      logs: [
        [...others, ...collected.slice(0, 3)],
        [...collected.slice(3), lines[5] ?? ''],
      ],
    }
  },
  'With a log to which the last one, of a moment ago, is not yet printed': async ({ lines }) => ({ logs: [lines.slice(0, 5)] }),
  'With a log that begins later': async (six) => {
    await rewrite(six, (texts) => texts)
    return { logs: [six.lines.slice(3)] }
  },
  'With a log that begins later and lacks one': async (six) => {
    await rewrite(six, (texts) => texts)
    return { logs: [[six.lines[3] ?? '', six.lines[5] ?? '']] }
  },
  'One from before the log was changed, with correct hashes, without a key': async (six) => {
    await rechain(six, (all) => all.map((one) => (one.act === 'approve' ? { ...one, act: 'reject' } : one)))
    return { ...withoutKey, logs: [six.lines.slice(3)] }
  },
  'The log has what they lack, lacks two, and one of its lines was changed': async (six) => {
    await rechain(six, (all) => all.slice(0, 5))
    const [first = '', ...rest] = six.lines
    return { logs: [[first.replace('"request"', '"approve"'), ...rest.toSpliced(0, 2)]] }
  },
  'With a log that has no line of the audit': async () => ({ logs: [['{"level":"info"}']] }),
}

/** Without what differs from run to run. */
const steady = (output: string, paths: string[]) =>
  paths
    .reduce((text, path) => text.replaceAll(path, '<log>'), output)
    .replaceAll(/(?!2026-01-02)\d{4}-\d\d-\d\d \d\d:\d\d/g, '<time>')
    .replace(/hash [\w-]{16}…/, 'hash <hash>…')

test('what is said of six entries, whatever became of them, is in verify.md', async () => {
  const told = Object.entries(situations).map(async ([situation, happen]): Promise<[string, string]> => {
    const six = await sixEntries()
    const { env = {}, logs = [] } = ((await happen(six)) ?? {}) as Given
    const paths = await Promise.all(logs.map(writeLog))
    const { exitCode, output } = await verify({ ...six.env, ...env }, paths)
    return [situation, `Exit code ${exitCode}\n${steady(output, paths).trimEnd()}`]
  })
  await expectDocument('verify.md', 'What `npm run audit:verify` says of six entries', await Promise.all(told))
})

test('the program prints the result, exits with its code, and changes nothing', async () => {
  const six = await sixEntries()
  const stored = async () => [await six.redis.keys(`{${six.prefix}}*`), await six.redis.hgetall(six.keys.auditHead)]
  const before = await stored()

  expect(await runProgram(six.env)).toEqual(await verify(six.env, []))
  expect(await runProgram(six.env, six.lines)).toEqual(await verify(six.env, [await writeLog(six.lines)]))
  expect(await stored()).toEqual(before)
  await rewrite(six, (texts) => texts.toSpliced(2, 1))
  const broken = await runProgram(six.env)
  expect(broken).toEqual(await verify(six.env, []))
  expect(broken.exitCode).toBe(1)
})

test('a log that is missing, an unreachable Redis, a wrong password and a missing variable are reported in a sentence', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as { port: number }
  await new Promise((closed) => server.close(closed))

  const { env } = await sixEntries()
  expect(await verify(env, ['/nowhere/audit.log'])).toEqual({ exitCode: 2, output: '/nowhere/audit.log cannot be read (ENOENT).\n' })
  const sentence = (code: string) =>
    `Redis isn't responding at REDIS_URL (${code}). Check that it runs, that the address and password are correct, and that this machine can reach it.\n`
  const away = await runProgram({ REDIS_URL: `redis://:hunter2@127.0.0.1:${port}` })
  expect(away).toEqual({ exitCode: 2, output: sentence('ECONNREFUSED') })
  const refused = await verify({ REDIS_URL: inject('redisUrl').replace('//', '//nobody:hunter2@') }, [])
  expect(refused).toEqual({ exitCode: 2, output: sentence('WRONGPASS') })
  const missing = await verify({}, [])
  expect(missing).toMatchObject({ exitCode: 2 })
  expect(missing.output).toMatch(/^REDIS_URL is missing[^\n]*\n$/)
})
