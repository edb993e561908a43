import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/domain/errors.ts'
import { moveForm, readCommand } from '../../src/features/ip-move.ts'
import { offerChoices } from '../../src/kit/form.ts'
import { moveChange } from '../../src/moves/move-change.ts'
import type { Choices } from '../../src/slack/interactions.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { isChoice } from '../../src/slack/pickers.ts'
import { optionsAnswer } from '../../src/slack/read-interactions.ts'
import { fakeApp } from '../fake-app.ts'
import { problemsWithOptions } from '../sandbox/slack/validate-blocks.ts'
import { accountOf, anElasticIp, aServer } from './account.ts'
import { elasticIps, servers } from './documented.ts'
import { patience, runs, type Wire } from './generate.ts'
import { isBgpOnWire, shown } from './visible.ts'

const active = anElasticIp
  .map((wire) => ({ ...wire, attributes: { ...(wire.attributes as Wire), status: 'active' } }) as Wire)
  .filter((wire) => !isBgpOnWire(wire))
const someServers = fc.uniqueArray(aServer, { selector: ({ id }) => id, maxLength: 6 })
const someElasticIps = fc.uniqueArray(anElasticIp, { selector: ({ id }) => id, maxLength: 6 })
const documentedServers = servers.map(({ wire }, index) => ({ ...(wire as Wire), id: `sv_documented${index}` }))
const documentedElasticIps = elasticIps.filter(({ reads }) => typeof reads !== 'string').map(({ wire }) => wire as Wire)

/** Longer ids are not offered, because Slack rejects long values. They can be typed. */
const longestValue = 74

function offered({ options }: Choices): string[] {
  return options.map(({ value }) => value ?? '').filter(isChoice)
}

type Account = ReturnType<typeof accountOf>

function appOf(account: Account) {
  const { elasticIps, servers } = account
  return fakeApp({ account, lists: { elasticIps: elasticIps.list, servers: servers.list, isShort: () => true } })
}

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

function choicesOf(
  account: Account,
  field: 'elasticIpId' | 'serverId',
  { typed = '', elasticIpId = undefined as string | undefined } = {},
) {
  const query = { actionId: '', origin, typed, metadata: writeMetadata({ origin, extra: elasticIpId }), values: {} }
  return offerChoices(appOf(account), moveForm.fields[field], query)
}

function read(account: Account, ...args: string[]) {
  return readCommand(appOf(account), { args, slashCommand: { origin } } as never, AbortSignal.timeout(5_000))
}

/** Expects that the picker offers the servers that the preflight check allows, apart from the server that the Elastic IP is on. */
async function expectAgreement(elasticIp: Wire, all: Wire[]): Promise<void> {
  const account = accountOf({ elasticIps: [elasticIp], servers: all })
  const choices = await choicesOf(account, 'serverId', { elasticIpId: String(elasticIp.id) })
  const { preflight } = moveChange({ account })
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
})

describe('the picker of Elastic IPs', patience, () => {
  test('offers all Elastic IPs within the limits of Slack, without those that BGP announces', async () => {
    const check = async (all: Wire[]) => {
      const choices = await choicesOf(accountOf({ elasticIps: all }), 'elasticIpId')
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
      fc.asyncProperty(active, someServers, async (elasticIp, all) => {
        const account = accountOf({ elasticIps: [elasticIp], servers: all })
        const byId = all.filter(({ id }) => id === 'web-1')
        const wires = byId.length > 0 ? byId : all.filter((wire) => shown(wire, 'attributes', 'hostname')?.toLowerCase() === 'web-1')
        const project = shown(elasticIp, 'attributes', 'project', 'id')
        const inProject = wires.filter((wire) => project !== undefined && shown(wire, 'attributes', 'project', 'id') === project)
        const meant = inProject.length === 1 ? inProject : wires
        chosen += inProject.length

        const named = await read(account, String(elasticIp.id), 'web-1').catch((error: unknown) => error)

        if (meant.length === 0) expect(named).toBeInstanceOf(UserError)
        else expect(named).toMatchObject({ found: meant.map(({ id }) => ({ id })) })
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
    expect(await read(account, String(id), server)).toEqual({ input: { elasticIpId: id, serverId: server } })
  }
})
