import { expect, test } from 'vitest'
import { type Examples, move, prepareExamples, startBot, untilWell } from './redis-examples.ts'

test('one server: a move is made over TLS, as a user with few rights, and is there after a SIGKILL', async () => {
  const examples = await prepareExamples()
  const redis = await examples.start('redis.conf')
  const world = await startBot(examples, examples.urlOf('rediss', [redis.port]))

  await move(world)
  const record = await examples.cli(redis.port, '--scan', '--pattern', '{lockkeeper}:request:*')
  await redis.end('SIGKILL')
  await redis.run()

  expect(record).toMatch(/^\{lockkeeper\}:request:\w+\n$/)
  expect(await examples.cli(redis.port, '--scan', '--pattern', '{lockkeeper}:request:*')).toBe(record)
  expect(await examples.cli(redis.port, 'acl', 'log')).toBe('\n')
}, 120_000)

test('one server: the user of the bot can neither read keys of others nor change the server', async () => {
  const examples = await prepareExamples()
  const redis = await examples.start('redis.conf')
  const may = (...command: string[]) => examples.cli(redis.port, 'acl', 'dryrun', 'lockkeeper', ...command)

  expect(await may('get', '{lockkeeper}:request')).toBe('OK\n')
  for (const command of [['get', 'other'], ['config', 'get', 'dir'], ['flushall'], ['keys', '*'], ['acl', 'list'], ['shutdown']]) {
    expect(await may(...command)).toMatch(/no permissions/)
  }
}, 120_000)

test('Sentinel: when the primary dies, a replica takes over, and the next move is made', async () => {
  const examples = await prepareExamples()
  const primary = await examples.start('replicated.conf')
  const replace = { 'redis-1.example.com 6379': `localhost ${primary.port}` }
  const replica = await examples.start('replicated.conf', { replace: { '# replicaof': 'replicaof', ...replace } })
  await expect.poll(() => examples.cli(replica.port, 'info', 'replication'), { timeout: 20_000 }).toContain('master_link_status:up')
  const sentinels = await Promise.all([1, 2, 3].map(() => examples.start('sentinel.conf', { replace })))
  const ports = sentinels.map(({ port }) => port)
  await expect.poll(() => sentinelsKnown(examples, ports), { timeout: 30_000 }).toEqual(['3', '3', '3'])
  const world = await startBot(examples, examples.urlOf('rediss+sentinel', ports, '/lockkeeper'))

  await move(world)
  await primary.end('SIGKILL')
  await expect.poll(() => examples.cli(replica.port, 'role'), { timeout: 30_000 }).toMatch(/^master/)
  await untilWell(world)
  await move(world)
}, 180_000)

test('Cluster: the bot makes moves on it, also after its primary died', async () => {
  const examples = await prepareExamples()
  const servers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => examples.start('cluster.conf')))
  const [first] = servers
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`)
  await examples.cli(first?.port ?? 0, '--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes')
  const url = examples.urlOf(
    'rediss+cluster',
    servers.map(({ port }) => port),
  )
  const world = await startBot(examples, url)

  await move(world)
  // A replica that has no data yet never takes over.
  const links = async () => (await Promise.all(servers.map(({ port }) => examples.cli(port, 'info', 'replication')))).join()
  await expect.poll(async () => (await links()).match(/master_link_status:up/g), { timeout: 30_000 }).toHaveLength(3)
  const keys = await Promise.all(servers.map(async ({ port }) => Number(await examples.cli(port, 'dbsize'))))
  const roles = await Promise.all(servers.map(({ port }) => examples.cli(port, 'role')))
  const primary = servers.find((_, index) => (keys[index] ?? 0) > 0 && roles[index]?.startsWith('master'))
  await primary?.end('SIGKILL')
  await expect.poll(async () => (await world.bot.page('/status')).status, { timeout: 20_000 }).toBe(503)
  await untilWell(world)
  await move(world)
}, 180_000)

/** Returns how many Sentinels each of them knows, with itself. */
function sentinelsKnown({ cli }: Examples, ports: number[]): Promise<(string | undefined)[]> {
  return Promise.all(ports.map(async (port) => /sentinels=(\d)/.exec(await cli(port, 'info', 'sentinel'))?.[1]))
}
