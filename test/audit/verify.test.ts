import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { createAudit } from '../../src/audit/audit.ts'
import { chain, hashOf, signNote } from '../../src/audit/chain.ts'
import { checkAudit } from '../../src/audit/verification.ts'
import { auditSigning } from '../given/audit.ts'
import { connectTestRedis } from '../given/redis.ts'
import { botProgram } from '../sandbox/bot-process.ts'
import { systemEnvironment } from '../sandbox/programs.ts'

type TestRedis = ReturnType<typeof connectTestRedis>

const stateKey = 'a-key-for-tests-of-32-characters'

const verify = (env: Record<string, string>, files: string[] = []) => checkAudit(env, files)

/** Runs the program as `npm run audit:verify` does. */
function runProgram(env: Record<string, string>): Promise<{ exitCode: number; output: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [botProgram('verify')], { env: { ...systemEnvironment(), ...env } }, (error, stdout, stderr) => {
      done({ exitCode: error ? Number(error.code) : 0, output: stdout + stderr })
    })
  })
}

function envOf({ prefix }: TestRedis) {
  return { REDIS_URL: inject('redisUrl'), REDIS_PREFIX: prefix, STATE_KEY: stateKey }
}

/** A chain of six entries, and its printed lines. */
async function sixEntries() {
  const mine = connectTestRedis()
  const lines: string[] = []
  const audit = createAudit({
    ...mine,
    print: (line) => void lines.push(line),
    onError: () => {},
    ...auditSigning({ keys: stateKey, prefix: mine.prefix }),
  })
  for (const act of ['request', 'approve', 'send', 'accept', 'late', 'finish']) await audit.note({ act, resource: 'elastic_ip:eip_1' })
  await audit.tidy()
  return { ...mine, audit, env: envOf(mine), lines }
}
type Six = Awaited<ReturnType<typeof sixEntries>>

/** Rewrites the chain, as a person with access to Redis could. */
async function rewrite({ redis, keys }: TestRedis, change: (entries: string[]) => string[]) {
  const found = await redis.xrange(keys.audit, '-', '+')
  await redis.del(keys.audit)
  // Use old ids, because recent entries may be missing in a log.
  let id = Date.now() - 3_600_000
  for (const entry of change(found.map(([, [, text = '']]) => text))) await redis.xadd(keys.audit, `${id++}-0`, 'entry', entry)
}

async function writeLog(lines: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'audit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'audit.log')
  await writeFile(path, `${lines.join('\n')}\n`)
  return path
}

test('a chain without faults is reported as whole, and stays as it is', async () => {
  const six = await sixEntries()
  const stored = async () => [await six.redis.keys(`{${six.prefix}}*`), await six.redis.hgetall(six.keys.auditHead)]
  const before = await stored()

  const { exitCode, output } = await verify(six.env)

  expect(await stored()).toEqual(before)
  expect(exitCode).toBe(0)
  expect(output).toMatch(
    /^The chain is whole: 6 entries, from \d{4}-\d\d-\d\d \d\d:\d\d to \d{4}-\d\d-\d\d \d\d:\d\d \(UTC\), last hash [\w-]{16}…\. All signatures are genuine\.\n$/,
  )
})

test('the program prints the result, and exits with its code', async () => {
  const six = await sixEntries()
  expect(await runProgram(six.env)).toEqual(await verify(six.env))
  await six.redis.xdel(six.keys.audit, (await six.redis.xrange(six.keys.audit, '-', '+'))[2]?.[0] ?? '')
  const broken = await runProgram(six.env)
  expect(broken).toEqual(await verify(six.env))
  expect(broken.exitCode).toBe(1)
})

test('an empty chain is nothing to verify', async () => {
  expect(await verify(envOf(connectTestRedis()))).toEqual({
    exitCode: 3,
    output: 'Nothing to verify: the chain is empty. Check REDIS_URL and REDIS_PREFIX, and whether Redis lost its data.\n',
  })
})

test('entries that somebody else removed are found, also with a note that says they were old', async () => {
  const six = await sixEntries()
  await six.redis.xadd(six.keys.auditIntake, '*', 'note', '{"version":1,"act":"trim","through":2}', 'at', '1795250765989')
  await six.audit.tidy()
  await six.redis.xtrim(six.keys.audit, 'MAXLEN', 5)

  const beginning = (noted: string) =>
    `The chain begins with entry 3, and the bot has removed ${noted} because of their age: others are missing.`
  const output = `${beginning('none')}\nEntry 7 is not signed: Lockkeeper did not write it.\n`
  expect(await verify(six.env)).toEqual({ exitCode: 1, output })
})

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

/** Writes the chain again with correct hashes and its head, as a person with access to Redis could. */
async function rechain(six: Six, change: (entries: string[]) => string[]): Promise<void> {
  let last = { seq: 0, hash: '' }
  await rewrite(six, (entries) =>
    change(entries).map((entry) => {
      const { seq: _, prev: __, ...fields } = JSON.parse(entry)
      const text = chain(fields, last.seq + 1, last.hash)
      last = { seq: last.seq + 1, hash: hashOf(text) }
      return text
    }),
  )
  await six.redis.hset(six.keys.auditHead, last)
}

test.each([
  ['lost all of it', 'data-lost', 0, 'Redis lost data'],
  ['went back to an older state', 'set-back', 2, 'Redis went back to an older state'],
])('after Redis %s, the chain is whole, and the entry about it is named', async (_, code, kept, words) => {
  const six = await sixEntries()
  await setBack(six, kept)
  await noteLoss(six, code)

  const { exitCode, output } = await verify(six.env)

  expect(exitCode).toBe(4)
  expect(output.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, '<time>').replace(/hash \S+…/, 'hash …')).toBe(
    `The chain is whole: ${kept + 5} entries, from <time> to <time> (UTC), last hash …. All signatures are genuine.
${words}. Lockkeeper noticed it on <time> (UTC), in entry ${kept + 2}. If nobody restored Redis then, find out what happened.
`,
  )
})

test('nobody without the key can note a loss, or note one again', async () => {
  const six = await sixEntries()
  await noteLoss(six, 'set-back')
  const noted = (await six.redis.xrange(six.keys.audit, '-', '+')).map(([, [, text = '']]) => text)
  const { seq, prev, at, ...genuine } = JSON.parse(noted.find((entry) => entry.includes('"set-back"')) ?? '')
  const put = (note: object) => six.redis.xadd(six.keys.auditIntake, '*', 'note', JSON.stringify(note), 'at', String(at))
  await put({ ...genuine, noteId: 'another' })
  await put(genuine)
  await six.audit.tidy()

  expect(await verify(six.env)).toEqual({
    exitCode: 1,
    output: expect.stringMatching(
      /^Entry 11 is not genuine: its signature doesn't match\.\nEntry 12 is a copy of entry 7\.\nRedis went back[^\n]*, in entry 7\.[^\n]*\n$/,
    ),
  })
})

test('a log from before and after a loss names the lines that Redis lost, and one that begins after it matches', async () => {
  const six = await sixEntries()
  await setBack(six, 3)
  await noteLoss(six, 'set-back')

  expect(await verify(six.env, [await writeLog(six.lines)])).toEqual({
    exitCode: 1,
    output: expect.stringMatching(
      /^Entries 4 to 6 are not the same in the chain and in the log\.\nRedis went back[^\n]*, in entry 5\.[^\n]*\n$/,
    ),
  })
  expect(await verify(six.env, [await writeLog(six.lines.slice(6))])).toMatchObject({
    exitCode: 4,
    output: expect.stringContaining('The log begins with entry 4 and matches in 5 entries.'),
  })
})

test('a copy of a note, a forged one and one with an unknown key are found', async () => {
  const six = await sixEntries()
  const [[, [, text = ''] = []] = []] = await six.redis.xrange(six.keys.audit, '-', '+', 'COUNT', 1)
  const { seq, prev, ...note } = JSON.parse(text)
  const { keyring } = auditSigning({ keys: 'another-key-of-32-characters-or-more', prefix: six.prefix })
  const put = (one: object) => six.redis.xadd(six.keys.auditIntake, '*', 'note', JSON.stringify(one), 'at', '1795250765989')
  await put(note)
  await put({ ...note, act: 'approve' })
  await put(signNote(keyring, { act: 'approve' }))
  await six.audit.tidy()

  expect(await verify(six.env)).toEqual({
    exitCode: 1,
    output: [
      "Entry 8 is not genuine: its signature doesn't match.",
      'Entry 9 is signed with a key that STATE_KEY does not have. Add the keys that were used before, separated by commas.',
      'Entry 7 is a copy of entry 1.',
      '',
    ].join('\n'),
  })
})

test('without a key only the chain is verified, and the result says so', async () => {
  const six = await sixEntries()
  const { STATE_KEY, ...withoutKey } = six.env
  expect(await verify({ ...withoutKey, INFRA_API_KEY: STATE_KEY })).toEqual(await verify(six.env))

  const whole = await verify(withoutKey)
  await rewrite(six, (entries) => entries.toSpliced(2, 1))
  const broken = await verify(withoutKey)

  const unchecked = 'Signatures were not checked: that needs STATE_KEY, or INFRA_API_KEY if the bot has no STATE_KEY.'
  expect(whole).toEqual({ exitCode: 0, output: expect.stringMatching(/^The chain is whole: .*Signatures were not checked/) })
  expect(broken).toEqual({ exitCode: 1, output: `Between entries 2 and 4 an entry is missing or was inserted.\n${unchecked}\n` })
})

const swap = <T>([a, b, c, d, ...rest]: T[]) => [a, c, b, d, ...rest].filter((one) => one !== undefined)

test.each<[name: string, tamper: (six: Six) => Promise<unknown>, faults: string[]]>([
  [
    'an entry whose text was changed',
    (six) => rewrite(six, (entries) => entries.map((entry) => entry.replace('"accept"', '"reject"'))),
    ['Entry 5 does not follow entry 4: one of them was changed or replaced.', "Entry 4 is not genuine: its signature doesn't match."],
  ],
  [
    'a last entry that was changed',
    (six) => rewrite(six, (entries) => entries.map((entry) => entry.replace('"finish"', '"reject"'))),
    ['The head of the chain has another hash than its last entry (6).', "Entry 6 is not genuine: its signature doesn't match."],
  ],
  [
    'an entry that cannot be read',
    (six) => rewrite(six, (entries) => entries.map((entry, index) => (index === 2 ? 'x' : entry))),
    ['The entry after number 2 cannot be read.'],
  ],
  [
    'an entry that was removed',
    (six) => rewrite(six, (entries) => entries.toSpliced(2, 1)),
    ['Between entries 2 and 4 an entry is missing or was inserted.'],
  ],
  [
    'an entry that was put in',
    (six) => rewrite(six, (entries) => entries.toSpliced(2, 0, chain({ act: 'approve', at: 1 }, 3, hashOf(entries[1] ?? '')))),
    ['Between entries 3 and 3 an entry is missing or was inserted.', 'Entry 3 is not signed: Lockkeeper did not write it.'],
  ],
  [
    'entries that were exchanged',
    (six) => rewrite(six, swap),
    [
      'Between entries 1 and 3 an entry is missing or was inserted.',
      'Between entries 3 and 2 an entry is missing or was inserted.',
      'Between entries 2 and 4 an entry is missing or was inserted.',
    ],
  ],
  [
    'a beginning that was removed',
    (six) => rewrite(six, (entries) => entries.slice(1)),
    ['The chain begins with entry 2, and the bot has removed none because of their age: others are missing.'],
  ],
  [
    'an end that was removed',
    (six) => rewrite(six, (entries) => entries.slice(0, 4)),
    ['The chain ends with entry 4, and its head names entry 6: the last entries are missing.'],
  ],
  [
    'a chain that was removed whole',
    (six) => six.redis.del(six.keys.audit),
    ['The chain ends with entry 0, and its head names entry 6: the last entries are missing.'],
  ],
  [
    'a head that was set back',
    (six) => six.redis.hset(six.keys.auditHead, 'seq', '4'),
    ['The chain ends with entry 6, and its head names entry 4: the head was set back, or entries were inserted.'],
  ],
  [
    'a head with another hash',
    (six) => six.redis.hset(six.keys.auditHead, 'hash', 'x'),
    ['The head of the chain has another hash than its last entry (6).'],
  ],
  [
    'a head that was removed',
    (six) => six.redis.del(six.keys.auditHead),
    ['The head of the chain is missing: it should name the last entry.'],
  ],
])('%s is found', async (_, tamper, faults) => {
  const six = await sixEntries()
  await tamper(six)

  expect(await verify(six.env)).toEqual({ exitCode: 1, output: `${faults.join('\n')}\n` })
})

test('notes that nobody chains are reported', async () => {
  const six = await sixEntries()
  await six.redis.del(six.keys.auditIntake)
  await six.redis.xadd(six.keys.auditIntake, `${Date.parse('2026-01-02T03:04:05Z')}-0`, 'note', '{"act":"request","at":1}')

  expect(await verify(six.env)).toEqual({
    exitCode: 1,
    output: '1 note waits to join the chain, the first since 2026-01-02 03:04 (UTC): no process chains them. Is a bot running?\n',
  })
})

test('a chain that matches the logs of all replicas is reported as the same', async () => {
  const six = await sixEntries()
  const collected = six.lines.map((line) => `2026-11-21T07:00:00Z stdout ${line}`)
  const logs = [
    await writeLog(['{"level":"info","msg":"Lockkeeper is ready"}', 'not JSON', ...collected.slice(0, 3)]),
    await writeLog([...collected.slice(3), six.lines[5] ?? '']),
  ]

  const { exitCode, output } = await verify(six.env, logs)

  expect(exitCode).toBe(0)
  expect(output).toMatch(/The log matches in 6 entries\. All signatures/)
  // An entry that was chained a moment ago may not be printed yet.
  expect(await verify(six.env, [await writeLog(six.lines.slice(0, 5))])).toMatchObject({ exitCode: 0 })
})

test('a chain that was rewritten with correct hashes is found with the key, or with the log', async () => {
  const six = await sixEntries()
  await rewrite(six, (entries) => {
    let last = ''
    return entries.map((entry, index) => {
      const { seq, prev, ...fields } = JSON.parse(entry)
      const text = chain({ ...fields, ...(index === 2 ? { by: 'U0BEN00001' } : {}) }, seq, last)
      last = hashOf(text)
      return text
    })
  })
  const [newest] = await six.redis.xrevrange(six.keys.audit, '+', '-', 'COUNT', 1)
  await six.redis.hset(six.keys.auditHead, 'hash', hashOf(newest?.[1][1] ?? ''))
  const log = await writeLog(six.lines)

  const { STATE_KEY: _, ...withoutKey } = six.env
  expect(await verify(withoutKey)).toMatchObject({ exitCode: 0 })
  expect(await verify(withoutKey, [log])).toEqual({
    exitCode: 1,
    output: expect.stringMatching(/^Entries 3 to 6 are not the same in the chain and in the log\.\n/),
  })
  expect(await verify(six.env)).toEqual({ exitCode: 1, output: "Entry 3 is not genuine: its signature doesn't match.\n" })
})

test('entries that only the chain or only the log has are found, and so is a changed line of the log', async () => {
  const six = await sixEntries()
  await rewrite(six, (entries) => entries.slice(0, 5))
  const [, newest] = await six.redis.xrevrange(six.keys.audit, '+', '-', 'COUNT', 1).then(([link]) => link ?? [])
  await six.redis.hset(six.keys.auditHead, 'seq', '5', 'hash', hashOf(newest?.[1] ?? ''))
  const [first = '', ...rest] = six.lines
  const log = await writeLog([first.replace('"request"', '"approve"'), ...rest.toSpliced(0, 2)])

  expect(await verify(six.env, [log])).toEqual({
    exitCode: 1,
    output: [
      "The log's line of entry 1 was changed: its hash doesn't match its text.",
      'Entries 2 to 3 are in the chain and not in the log. Give it the complete log of every replica.',
      'Entry 6 is in the log and not in the chain.',
      '',
    ].join('\n'),
  })
})

test('entries that are older than the log are no fault if a line of the log matches the chain after them', async () => {
  const six = await sixEntries()
  await rewrite(six, (entries) => entries)
  const [log, other] = [await writeLog(six.lines.slice(3)), await writeLog([six.lines[3] ?? '', six.lines[5] ?? ''])]

  expect(await verify(six.env, [log])).toEqual({
    exitCode: 0,
    output: expect.stringContaining('The log begins with entry 4 and matches in 3 entries.'),
  })
  expect(await verify(six.env, [other])).toEqual({
    exitCode: 1,
    output: 'Entry 5 is in the chain and not in the log. Give it the complete log of every replica.\n',
  })
  await rechain(six, (entries) => entries.map((entry) => entry.replace('"approve"', '"reject"')))
  expect(await verify({ ...six.env, STATE_KEY: '' }, [log])).toMatchObject({
    exitCode: 1,
    output: expect.stringContaining('Entries 4 to 6 are not the same in the chain and in the log.'),
  })
})

test('a log that is missing or has no line of the audit is an error', async () => {
  const six = await sixEntries()
  const empty = await writeLog(['{"level":"info"}'])

  expect(await verify(six.env, [empty])).toEqual({ exitCode: 2, output: `No line of the audit in ${empty}.\n` })
  expect(await verify(six.env, [`${empty}.1`])).toEqual({ exitCode: 2, output: `${empty}.1 cannot be read (ENOENT).\n` })
})

test('an unreachable Redis, a wrong password and a missing variable are reported in a sentence', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as { port: number }
  await new Promise((closed) => server.close(closed))

  const sentence = (code: string) =>
    `Redis isn't responding at REDIS_URL (${code}). Check that it runs, that the address and password are correct, and that this machine can reach it.\n`
  const away = await runProgram({ REDIS_URL: `redis://:hunter2@127.0.0.1:${port}` })
  expect(away).toEqual({ exitCode: 2, output: sentence('ECONNREFUSED') })
  const refused = await verify({ REDIS_URL: inject('redisUrl').replace('//', '//nobody:hunter2@') })
  expect(refused).toEqual({ exitCode: 2, output: sentence('WRONGPASS') })
  const missing = await verify({})
  expect(missing).toMatchObject({ exitCode: 2 })
  expect(missing.output).toMatch(/^REDIS_URL is missing[^\n]*\n$/)
})
