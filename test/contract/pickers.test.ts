import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/domain/errors.ts'
import { createResolve, elasticIpChoices, serverChoices } from '../../src/features/ip-move.ts'
import { chooseServer, createMoveChange } from '../../src/moves/move-change.ts'
import type { Choices } from '../../src/slack/interactions.ts'
import { isChoice } from '../../src/slack/pickers.ts'
import { optionsAnswer } from '../../src/slack/read-interactions.ts'
import { problemsWithOptions } from '../sandbox/slack/validate-blocks.ts'
import { accountOf } from './account.ts'
import { elasticIps } from './documented/elastic-ips.ts'
import { servers } from './documented/servers.ts'
import type { Wire } from './generate.ts'
import { anElasticIp, aServer } from './move-objects.ts'
import { patience, runs } from './runs.ts'
import { isBgpOnWire, shown } from './visible.ts'

const active = anElasticIp
  .map((wire) => ({ ...wire, attributes: { ...(wire.attributes as Wire), status: 'active' } }) as Wire)
  .filter((wire) => !isBgpOnWire(wire))
const someServers = fc.uniqueArray(aServer, { selector: ({ id }) => id, maxLength: 6 })
const someElasticIps = fc.uniqueArray(anElasticIp, { selector: ({ id }) => id, maxLength: 6 })
const documentedServers = servers.map(({ wire }, index) => ({ ...(wire as Wire), id: `sv_documented${index}` }))
const documentedElasticIps = elasticIps.filter(({ reads }) => typeof reads !== 'string').map(({ wire }) => wire as Wire)
const typed = fc.oneof(fc.constantFrom('', 'web', 'SAO', 'storefront 203', 'sv_'), fc.string({ maxLength: 6 }))

/** Longer ids are not offered, because Slack rejects long values. They can be typed. */
const longestValue = 74

function offered({ options }: Choices): string[] {
  return options.map(({ value }) => value ?? '').filter(isChoice)
}

/** Expects that the picker offers the servers that the preflight check allows, apart from the server that the Elastic IP is on. */
async function expectAgreement(elasticIp: Wire, all: Wire[]): Promise<void> {
  const account = accountOf({ elasticIps: [elasticIp], servers: all })
  const [read] = await account.elasticIps.list()
  const choices = serverChoices(await account.servers.list(), '', read)
  const { preflight } = createMoveChange(account)
  const on = shown(elasticIp, 'attributes', 'server', 'id')
  const others = all.map(({ id }) => String(id)).filter((id) => id !== on && id.length <= longestValue)
  const passing: string[] = []
  for (const serverId of others) {
    const outcome = await preflight({ elasticIpId: String(elasticIp.id), serverId }, {}).catch((error: unknown) => error)
    if (outcome instanceof Error && !(outcome instanceof UserError)) throw outcome
    if (!(outcome instanceof UserError)) passing.push(serverId)
  }
  expect(new Set(offered(choices).filter((id) => id !== on))).toEqual(new Set(passing))
  expect(problemsWithOptions(optionsAnswer(choices))).toEqual([])
}

describe('the picker of servers', patience, () => {
  test('offers for a documented Elastic IP the servers that the preflight check allows', async () => {
    const movable = documentedElasticIps.filter(
      (wire) => (shown(wire, 'attributes', 'status') ?? 'active') === 'active' && !isBgpOnWire(wire),
    )
    for (const elasticIp of movable) {
      await expectAgreement(elasticIp, documentedServers)
      const on = shown(elasticIp, 'attributes', 'server', 'id')
      for (const server of on === undefined ? [] : documentedServers)
        await expectAgreement(elasticIp, [...documentedServers, { ...server, id: on }])
    }
  })

  test('offers for a generated Elastic IP the servers that the preflight check allows', async () => {
    await fc.assert(fc.asyncProperty(active, someServers, expectAgreement), runs)
  })

  test('keeps the limits of Slack for any typed text and any number of servers', async () => {
    const many = fc
      .tuple(aServer, fc.constantFrom(1, 99, 100, 101, 250))
      .map(([wire, count]) => Array.from({ length: count }, (_, index) => ({ ...wire, id: `${wire.id}${index}` })))
    await fc.assert(
      fc.asyncProperty(fc.option(anElasticIp, { nil: undefined }), fc.oneof(someServers, many), typed, async (elasticIp, all, text) => {
        const account = accountOf({ elasticIps: elasticIp ? [elasticIp] : [], servers: all })
        const choices = serverChoices(await account.servers.list(), text, (await account.elasticIps.list())[0])
        expect(problemsWithOptions(optionsAnswer(choices))).toEqual([])
      }),
      { numRuns: Math.ceil(runs.numRuns / 4) },
    )
  })
})

describe('the picker of Elastic IPs', patience, () => {
  test('offers all Elastic IPs within the limits of Slack, without those that BGP announces', async () => {
    const check = async (all: Wire[]) => {
      const choices = elasticIpChoices(await accountOf({ elasticIps: all }).elasticIps.list(), '')
      const offerable = all.filter((wire) => !isBgpOnWire(wire))
      expect(problemsWithOptions(optionsAnswer(choices))).toEqual([])
      expect(new Set(offered(choices))).toEqual(new Set(offerable.map(({ id }) => String(id)).filter((id) => id.length <= longestValue)))
    }
    for (const elasticIp of documentedElasticIps) await check([elasticIp])
    await fc.assert(fc.asyncProperty(someElasticIps, check), runs)
  })
})

describe('a server by its hostname', patience, () => {
  test('is the only server of that name, or the only one in the project of the Elastic IP; otherwise all are listed', async () => {
    let chosen = 0
    await fc.assert(
      fc.asyncProperty(fc.option(anElasticIp, { nil: undefined }), someServers, async (elasticIp, all) => {
        const account = accountOf({ elasticIps: elasticIp ? [elasticIp] : [], servers: all })
        const candidates = (await account.servers.list()).filter(({ hostname }) => hostname === 'web-1')
        const wires = all.filter((wire) => shown(wire, 'attributes', 'hostname') === 'web-1')
        const project = shown(elasticIp, 'attributes', 'project', 'id')
        const inProject = wires.filter((wire) => project !== undefined && shown(wire, 'attributes', 'project', 'id') === project)
        const meant = wires.length === 1 ? wires : inProject

        const choose = async () => chooseServer('web-1', candidates, (await account.elasticIps.list())[0]?.project).id

        if (meant.length === 1) {
          expect(await choose()).toBe(meant[0]?.id)
          chosen += 1
          return
        }
        const refusal = await choose().catch((error: unknown) => error)
        expect(refusal).toBeInstanceOf(UserError)
        for (const { id } of wires) expect(String(refusal)).toContain(id)
      }),
      runs,
    )
    expect(chosen).toBeGreaterThan(0)
  })
})

test('ids in every documented form are used as ids while the account API does not answer', async () => {
  const account = accountOf({ unavailable: ['/elastic_ips', '/servers'] })
  for (const { id } of documentedElasticIps) {
    const server = 'sv_W3mVpQ0xNd7Lk'
    expect(await createResolve(account)({ elasticIp: String(id), server })).toEqual({ input: { elasticIpId: id, serverId: server } })
  }
})
