import fc from 'fast-check'
import { expect, test } from 'vitest'
import { optionsAnswer } from '../../src/bolt/read-interactions.ts'
import { UserError } from '../../src/domain/errors.ts'
import { moveForm } from '../../src/features/moves/ip-move.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { offerChoices } from '../../src/kit/change-form.ts'
import type { Choices } from '../../src/slack/interactions.ts'
import { writeMetadata } from '../../src/slack/payloads.ts'
import { isChoice } from '../../src/slack/pickers.ts'
import { fakeApp } from '../fake-app.ts'
import { problemsWithOptions } from '../sandbox/slack/validate-blocks.ts'
import { accountOf, anElasticIp, aServer } from './account.ts'
import { patience, runs, type Wire } from './generate.ts'
import { isBgpOnWire, shown } from './visible.ts'

const active = anElasticIp
  .map((wire) => ({ ...wire, attributes: { ...(wire.attributes as Wire), status: 'active' } }) as Wire)
  .filter((wire) => !isBgpOnWire(wire))
const someServers = fc.uniqueArray(aServer, { selector: ({ id }) => id, maxLength: 6 })

/** Longer ids are not offered, because Slack rejects long values. They can be typed. */
const longestValue = 74

function offered({ options }: Choices): string[] {
  return options.map(({ value }) => value ?? '').filter(isChoice)
}

const origin = { teamId: 'T0NIMBUS01', channelId: 'C0OPS00001', userId: 'U0ADA00001', command: '/infra' }

/** Expects that the picker offers the servers that the preflight check allows, apart from the server that the Elastic IP is on. */
async function expectAgreement(elasticIp: Wire, all: Wire[]): Promise<void> {
  const account = accountOf({ elasticIps: [elasticIp], servers: all })
  const app = fakeApp({ account, lists: { elasticIps: account.elasticIps.list, servers: account.servers.list, isShort: () => true } })
  const query = { actionId: '', origin, typed: '', metadata: writeMetadata({ origin, chosen: String(elasticIp.id) }), values: {} }
  const choices = await offerChoices(app, moveForm.fields.serverId, query)
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

test('the picker of servers offers those that the preflight check allows', patience, async () => {
  await fc.assert(fc.asyncProperty(active, someServers, expectAgreement), runs)
})
