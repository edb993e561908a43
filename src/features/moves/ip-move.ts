import { isIP } from 'node:net'
import type { App } from '../../app.ts'
import { changeFeature, type Named } from '../../kit/change-feature.ts'
import { type Form, pick } from '../../kit/change-form.ts'
import { shownFacts } from '../../kit/listed.ts'
import { findTyped } from '../../kit/thing.ts'
import { elasticIps, servers } from '../../kit/things.ts'
import { preset } from '../../slack/pickers.ts'
import { code, mrkdwn } from '../../slack/text.ts'
import { moveChange, moveKind, serversMeant } from './move-change.ts'
import { addressOf, canMoveTo, type MoveFacts, type MoveInput, moveFindings } from './move-checks.ts'
import { warnOfOthers } from './open-requests.ts'

export const moveForm: Form<MoveInput, MoveFacts> = {
  callbackId: 'move-elastic-ip',
  title: 'Move an Elastic IP',
  about: 'elasticIpId',
  fields: {
    elasticIpId: pick(elasticIps, { label: 'Elastic IP', hint: 'Search by address, id, server, project or site.' }),
    serverId: pick(servers, {
      label: 'Server',
      hint: 'Must be in the same project and site. Search by hostname, id, address, project or site.',
      dependsOn: 'elasticIpId',
      fits: targetsOf,
    }),
  },
  errorsAt: 'serverId',
  filled: ({ elasticIpId, serverId }, facts) => ({
    elasticIpId: preset({ text: addressOf(facts), value: elasticIpId }),
    serverId: preset({ text: shownFacts(facts).to.name, value: serverId }),
  }),
}

async function targetsOf(app: App, elasticIpId: string) {
  const [addresses, all] = await Promise.all([app.lists.elasticIps(), app.lists.servers()])
  const elasticIp = addresses.items.find(({ id }) => id === elasticIpId)
  const assigned = all.items.find(({ id }) => id === elasticIp?.server?.id)
  return (server: (typeof all.items)[number]) => !elasticIp || canMoveTo(elasticIp, server, assigned)
}

export const moveElasticIp = changeFeature({
  kind: moveKind,
  change: (app) => {
    const change = moveChange(app)
    return {
      ...change,
      preflight: async (input, options) => {
        const checked = await change.preflight(input, options)
        const others = options.forRequest ? await warnOfOthers(app, { to: shownFacts(checked.facts).to }) : []
        return { ...checked, warnings: [...others, ...(checked.warnings ?? [])] }
      },
    }
  },
  findings: moveFindings,
  form: moveForm,
  command: {
    words: 'ip move',
    usage: '[<elastic ip> <server>]',
    group: 'Change',
    summary: 'Move an Elastic IP to another server',
    details: mrkdwn`The Elastic IP by address or id, the server by hostname or id, in the same project and site. An incomplete command opens a form.`,
    examples: ['203.0.113.10 web-2', '203.0.113.10'],
    button: 'Move IP',
    shortcut: 'move-elastic-ip',
    instead: { thing: servers, words: 'evacuate' },
  },
  read: {
    names: {
      elasticIpId: { called: 'elastic ip', member: 'elastic_ip', description: 'The Elastic IP, by its address or id' },
      serverId: { called: 'server', member: 'server', description: 'The server to move it to, by its hostname or id' },
    },
    find: findNamed,
    inOrder: (names) => (isAddress(names[1]) && !isAddress(names[0]) ? names.toReversed() : names),
    machines: {
      tool: 'propose_move',
      title: 'Propose to move an Elastic IP',
      description: 'Requests to move an Elastic IP to another server of the same project and site.',
    },
  },
  item: { of: 'elastic-ip', label: 'Move…' },
  offer: { of: 'elastic-ip', label: 'Move…' },
})

const isAddress = (typed = '') => isIP(typed.replace(/\/\d+$/, '')) !== 0 || elasticIps.isId?.(typed)

/** `named`: as they were typed. */
export async function findNamed(app: App, named: MoveInput, signal: AbortSignal): Promise<Named<MoveInput>> {
  // Typed ids are used as they are. The preflight check reads them, and says what could not be read.
  if (elasticIps.isId?.(named.elasticIpId) && servers.isId?.(named.serverId)) return { input: named }
  const [{ id: elasticIpId, address = elasticIpId, project, site }] = await findTyped(app, elasticIps, named.elasticIpId, signal)
  return {
    thing: servers,
    typed: named.serverId,
    found: serversMeant(await findTyped(app, servers, named.serverId, signal), { project, site }),
    inputOf: (serverId) => ({ elasticIpId, serverId }),
    ask: mrkdwn`Which one should ${code(address)} move to?`,
    byId: `ip move ${address} <id>`,
  }
}
