import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { general, ops, people } from '../journeys/world.ts'
import { systemEnvironment } from '../sandbox/programs.ts'
import { endsWithUs } from '../sandbox/watchdog.ts'
import { move, prepareExamples, startBot, untilWell } from './redis-examples.ts'

/** Runs `npm run audit:verify` as docs/backup.md says, with these files. */
async function verifyAudit(env: Record<string, string>, ...files: string[]) {
  const child = endsWithUs(spawn(process.execPath, ['src/audit/verify.ts', ...files], { env: { ...systemEnvironment(), ...env } }))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  const [code] = await once(child, 'close')
  return { code, output }
}

// The steps are those of docs/backup.md, in their order.
test('a backup that is put back is whole, its audit is verified, and the bot says that the state is older', async () => {
  const examples = await prepareExamples()
  const redis = await examples.start('redis.conf')
  const cli = (...args: string[]) => examples.cli(redis.port, ...args)
  const world = await startBot(examples, examples.urlOf('rediss', [redis.port]), { OPS_CHANNEL: general })
  world.slack.invite(general)
  await move(world)
  await expect.poll(() => world.bot.output()).toContain('"act":"finish"')

  // Back up, while Redis runs.
  await cli('config', 'set', 'auto-aof-rewrite-percentage', '0')
  await expect.poll(() => cli('info', 'persistence'), { timeout: 20_000 }).toContain('aof_rewrite_in_progress:0')
  const backup = join(redis.data, '..', 'backup')
  await cp(join(redis.data, 'appendonlydir'), backup, { recursive: true })
  await cli('config', 'set', 'auto-aof-rewrite-percentage', '100')

  await move(world)
  const entries = () => world.bot.output().match(/"act":"finish"/g)
  await expect.poll(entries).toHaveLength(2)
  const lines = join(redis.data, '..', 'audit.log')
  await writeFile(lines, world.bot.output())
  expect(await verifyAudit(world.env, lines)).toMatchObject({ code: 0 })

  // Restore.
  await cp(backup, join(redis.data, 'new'), { recursive: true })
  await redis.end('SIGTERM')
  await rename(join(redis.data, 'appendonlydir'), join(redis.data, 'replaced'))
  await rename(join(redis.data, 'new'), join(redis.data, 'appendonlydir'))
  await redis.run()

  const isNotice = ({ text }: { text: string }) => text.includes('*Redis went back to an older state.*')
  await world.slack.until(() => world.slack.messages(general).find(isNotice), { timeoutMs: 20_000 })
  await untilWell(world)
  expect(await verifyAudit(world.env, lines)).toMatchObject({
    code: 1,
    output: expect.stringMatching(/not the same in the chain and in the log[\s\S]*Redis went back to an older state/),
  })
  expect(await verifyAudit(world.env)).toMatchObject({ code: 4 })
  await world.slack.as(people.ben).command('/infra unfreeze', { channel: ops })
  await move(world)
  expect(world.slack.messages(general).filter(isNotice)).toHaveLength(1)
}, 120_000)
