import { projectName } from '../../domain/account/place.ts'
import type { Change } from '../../domain/change/change.ts'
import type { Description } from '../../domain/change/description.ts'
import { addressOf } from '../../domain/elastic-ip-move/elastic-ip-move.ts'
import {
  addressesLeftOut,
  completeEvacuation,
  EvacuationFacts,
  EvacuationInput,
  evacuationDifferences,
  movesOf,
} from '../../domain/evacuation/evacuation.ts'
import { bgpWords, explainEvacuation } from '../../domain/evacuation/findings.ts'
import { type Phrase, phrase } from '../../domain/text/phrase.ts'
import { createMoveChange } from '../../moves/move-change.ts'
import { addressCount, remarkWords } from './messages.ts'
import { createPreflight, createReadAddresses, type EvacuationReadsParts } from './preflight.ts'

/** The kind of the change. This name is public. */
export const evacuationKind = 'ip.evacuate'

/** Creates the change that moves all Elastic IPs of a server to another server, with one write for each. */
export function createEvacuation(parts: EvacuationReadsParts): Change<EvacuationInput, EvacuationFacts> {
  const move = createMoveChange(parts.accountApi, parts.copies)

  return {
    kind: evacuationKind,
    label: 'evacuating a server',
    takesTime: true,
    input: EvacuationInput,
    inputOfAlert: (servers) => ({ ...servers, leavesOut: true }),
    facts: EvacuationFacts,
    resource: ({ serverId }) => `server:${serverId}`,
    moreResources: (_, facts) => movesOf(facts).map((item) => move.resource(move.input.parse(item.input))),
    project: (facts) => facts.project ?? 'unknown',
    preflight: createPreflight({ ...parts, readAddresses: createReadAddresses(parts) }),
    differences: evacuationDifferences,
    explain: explainEvacuation,
    complete: completeEvacuation,
    remark: remarkWords,
    leaves: ({ bgp, from }) => bgpWords(bgp, from.name),
    subject: ({ from }) => from.name,
    describe: describeEvacuation,
    items: {
      change: move,
      of: movesOf,
      leftOut: addressesLeftOut,
      narrow: (input, elasticIpIds) => ({ ...input, elasticIpIds }),
    },
    // The outcome is read item by item.
    observe: async () => ({ is: 'unclear' }),
    doneSentence,
    reverse: ({ elasticIpIds = [] }, { from, to, project, site, items }) => ({
      input: { serverId: to.id, targetId: from.id, elasticIpIds },
      facts: {
        from: to,
        to: from,
        ...(project ? { project } : {}),
        ...(site ? { site } : {}),
        items: items.map(({ elasticIpId, address }) => ({ elasticIpId, ...(address ? { address } : {}), from: to, to: from })),
        leftOut: [],
      },
      label: 'Move back',
    }),
    undoing: (facts) => ({ ...facts, isBack: true }),
  }
}

function doneSentence({ items, to }: EvacuationFacts): Phrase {
  const [only, ...others] = items
  return only && others.length === 0
    ? phrase`${addressOf(only)} is assigned to ${to.name}.`
    : phrase`${[addressCount(items.length)]} are assigned to ${to.name}.`
}

function describeEvacuation({ from, to, toAddress, project, site, items, isBack }: EvacuationFacts): Description {
  const moved = addressOrCount(items)
  return {
    title: isBack ? phrase`Move back ${moved}: ${from.name} → ${to.name}` : phrase`Evacuate ${from.name} → ${to.name} (${moved})`,
    facts: [
      { label: 'Project', value: project ? projectName(project) : 'not known' },
      { label: 'Site', value: site ?? 'not known' },
    ],
    ids: [
      ...(from.name === from.id ? [] : [{ label: 'From', value: from.id }]),
      ...(to.name === to.id ? [] : [{ label: 'To', value: to.id, ...(toAddress === undefined ? {} : { detail: toAddress }) }]),
    ],
    underway: 'moving',
  }
}

/** Names a single address. Several are counted, and the message lists them. */
function addressOrCount(items: EvacuationFacts['items']): string | [words: string] {
  const [item] = items
  return item && items.length === 1 ? addressOf(item) : [addressCount(items.length)]
}
