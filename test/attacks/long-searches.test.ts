import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { ElasticIp, Server } from '../../src/account/objects.ts'
import type { App } from '../../src/app.ts'
import { findEntries } from '../../src/audit/find.ts'
import { readInteraction } from '../../src/bolt/read-interactions.ts'
import { moveForm } from '../../src/features/moves/ip-move.ts'
import { offerChoices } from '../../src/kit/change-form.ts'
import { createKeys } from '../../src/redis/key-names.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { fakeApp } from '../fake-app.ts'
import { auditSigning } from '../given/audit.ts'
import { ops, people, startWorld } from '../journeys/world.ts'
import { wholeList } from '../whole-list.ts'

const words = (count: number) => Array.from({ length: count }, (_, index) => `w${index % 10}`)
const place = { project: { id: 'proj_1', name: 'Storefront' }, site: { id: 'site_1', name: 'Ashburn', slug: 'ASH' } }

function entry(seq: number): string {
  return JSON.stringify({ version: 1, act: 'request', seq, at: seq, prev: '', requestId: `r${seq}`, resource: `elastic_ip:eip_${seq}` })
}

/** Reads of a chain of so many entries, page by page from its end. */
function chainOf(count: number) {
  const xrevrange = async (_key: string, from: string, _to: string, __: string, most: number) => {
    const newest = from === '+' ? count : Number(from.slice(1)) - 1
    return Array.from({ length: Math.min(most, newest) }, (___, index) => [String(newest - index), ['entry', entry(newest - index)]])
  }
  return { audit: { redis: { xrevrange }, keys: createKeys('test'), keyring: auditSigning().keyring, chained: async () => {} } } as never
}

describe('a member who searches with thousands of words', () => {
  test('is refused by every command that reads, whether it takes words or not', async () => {
    const world = await startWorld()
    const reading = world.bots[0]?.commands.filter(({ need }) => need === 'read') ?? []
    expect(reading.length).toBeGreaterThan(8)

    for (const { words: name } of reading) await world.ada.command(`/infra ${name} ${words(21).join(' ')}`, { channel: ops })

    await world.slack.until(() => world.slack.ephemerals(people.ada).length === reading.length)
    const refusals = /^Too many words: a search can have up to 20\. This one has 21\.|^`\/infra \w+` takes no arguments\. Not understood: /
    for (const { text } of world.slack.ephemerals(people.ada)) expect(text).toMatch(refusals)
  })

  test('has a text of open quotes refused before it is split, which takes time with the square of its length', async () => {
    const app = { config: { slack: { command: '/infra' } }, slack: {}, redis: {}, keys: createKeys('test') } as unknown as App

    const payload = { command: '/infra', text: '“ '.repeat(200_000), user_id: people.ada, channel_id: ops, trigger_id: 't' }
    const read = readInteraction(app, { commands: [] } as never, { kind: 'command', payload } as never, async () => {})

    expect(read?.at).toBe('command unknown')
  })
})

describe('a member who searches 20,000 entries of the audit', () => {
  test('lets everybody else have their turn after every 50 entries', async () => {
    let turns = 0
    let isOver = false
    const others = (async () => {
      for (; !isOver; turns += 1) await nextTurn()
    })()

    let searched = 0
    await findEntries(chainOf(5_000), () => {
      searched += 1
      return false
    })
    isOver = true
    await others

    expect(searched).toBe(5_000)
    expect(turns).toBeGreaterThanOrEqual(5_000 / 50)
  })
})

describe('a member who lists or picks from thousands of things', () => {
  test('has every server looked at a few times for a keystroke, and not once for every other server', async () => {
    const count = 500
    let looks = 0
    const servers = Array.from({ length: count }, (_, index) => {
      const server = { hostname: `web-${index}`, label: undefined, primaryIpv4: undefined, status: 'on', locked: false, ...place }
      return Object.defineProperty(server, 'id', {
        get: () => {
          looks += 1
          return `sv_${index}`
        },
      }) as Server
    })
    const elasticIp = { id: 'eip_1', address: '203.0.113.10', status: 'active', server: { id: 'sv_499', hostname: undefined }, ...place }

    const all = wholeList(servers)
    const app = fakeApp({ lists: { elasticIps: async () => wholeList([elasticIp as ElasticIp]), servers: async () => all } })
    const origin = { channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }
    const query = { actionId: '', origin, typed: '', metadata: writeMetadata({ origin, opens: 'eip_1' }), values: {} }
    const { options } = await offerChoices(app, moveForm.fields.serverId, query)

    expect(options).toHaveLength(100)
    expect(looks).toBeLessThan(10 * count)
  })
})
