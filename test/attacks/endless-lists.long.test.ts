import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { jsonType, type Recorded, type Reply, startClient, startRecordingServer } from '../account/recording-server.ts'
import { ops, people, startWorld, untilShown } from '../journeys/world.ts'

const pageOf = ({ target }: Pick<Recorded, 'target'>) => Number(new URLSearchParams(target.split('?')[1]).get('page[number]') ?? 1)

function addresses(from: number, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `eip_${from + index}`,
    attributes: { address: `203.0.113.${from + index}`, status: 'active' },
  }))
}

/** A list of 100 items for ever, whose texts fill so many bytes. Other texts on every page, so that nothing is shared in memory. */
function fullPage(bytes: number, page: number): string {
  const text = 'a'.repeat(Math.floor(bytes / 320))
  const item = (index: number) => {
    const own = `ж${page}-${index}-${text}`
    return { id: `x_${page}_${index}`, attributes: { name: own, hostname: own, address: own, primary_ipv4: own } }
  }
  return JSON.stringify({ data: Array.from({ length: 80 }, (_, index) => item(index)) })
}

/** Reads every list of a server that answers like this, in a separate process with the flags of the bot. */
async function readAllLists(answer: (request: Recorded) => Reply, times: number): Promise<{ megabytes: number; read: string[] }> {
  const { url } = await startRecordingServer(answer)
  const script = fileURLToPath(new URL('read-all-lists.ts', import.meta.url))
  const flags = ['--max-semi-space-size=4', '--max-old-space-size=384']
  const run = promisify(execFile)(process.execPath, [...flags, script, '--url', url.href, '--times', String(times)], { timeout: 60_000 })
  return JSON.parse((await run).stdout)
}

const longPages = new Map<number, Buffer>()

/** Returns one of the longest pages that are read. Each is written once, because many lists read it. */
function longPage(page: number): Buffer {
  const text = longPages.get(page) ?? Buffer.from(fullPage(1.9 * 1024 * 1024, page))
  longPages.set(page, text)
  return text
}

test('a server that answers pages of 7 MB for ever costs less than 400 MB', async () => {
  const page = fullPage(7 * 1024 * 1024, 1)

  const { megabytes, read } = await readAllLists(() => ({ text: page }), 3)

  expect(read).toEqual(['none, cut by size'])
  expect(megabytes).toBeLessThan(400)
})

test('a server that answers the longest pages that are read, for ever, costs less than 400 MB', { timeout: 90_000 }, async () => {
  const { megabytes, read } = await readAllLists((request) => ({ text: longPage(pageOf(request)) }), 3)

  expect(read).toEqual(['some, cut by nothing', 'some, cut by size'])
  expect(megabytes).toBeLessThan(400)
})

test('a server that sends no length of its pages is read no further', async () => {
  const { api } = await startClient(() => (response) => {
    response.writeHead(200, { 'content-type': jsonType })
    const timer = setInterval(() => response.write(Buffer.alloc(512 * 1024, 32)), 1)
    response.on('close', () => clearInterval(timer))
  })

  const cut = { items: [], isWhole: false, cut: 'size' }
  expect(await api.servers.list()).toMatchObject(cut)
  expect(await api.plans.list()).toMatchObject(cut)
})

test.each<[string, number, (page: number) => unknown[]]>([
  ['thousands of items in one page', 5_000, (page) => addresses(page, 6_000)],
  ['ever more items', 20_000, (page) => addresses(page * 4_000, 4_000)],
  ['ever more pages', 19_001, (page) => addresses(page * 19, 20)],
])('a server that answers %s is read no further', async (_, count, itemsOf) => {
  const { api } = await startClient((request) => ({ json: { data: itemsOf(pageOf(request)) } }))

  const { items, isWhole, cut } = await api.elasticIps.list()

  expect({ isWhole, cut, count: items.length }).toEqual({ isWhole: false, cut: 'size', count })
})

test('whoever lists sees that the list was cut off, and why', async () => {
  const { url } = await startRecordingServer((request) => ({ json: { data: addresses(pageOf(request), 6_000) } }))
  const world = await startWorld({ env: { INFRA_API_URL: url.href } })

  await world.ada.command('/infra ip list', { channel: ops })

  const { text } = await untilShown(world.slack, people.ada, /Elastic IPs/)
  expect(text).toContain('*5000 Elastic IPs* (page 1 of 100)')
  expect(text).toContain(":warning: *This list is incomplete:* the account's list is too long. The first 5000 were read and searched.")
  expect(text).toContain('The first 1000 of 5000 are listed.')
})
