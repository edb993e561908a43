import type { KnownBlock, ModalView, PlainTextOption } from '@slack/web-api'
import { z } from 'zod'
import { mostEvacuated } from '../../domain/evacuation/evacuation.ts'
import { bgpWords } from '../../domain/evacuation/findings.ts'
import { formatAgo, formatDuration } from '../../domain/text/duration.ts'
import { purposeOf } from '../../requests/messages/forms/purpose.ts'
import { reasonField } from '../../requests/messages/forms/reason-field.ts'
import { context, problemBlocks, wholeSection } from '../../slack/blocks/blocks.ts'
import { oldNotes } from '../../slack/blocks/cut-note.ts'
import { input } from '../../slack/blocks/inputs.ts'
import { modal } from '../../slack/blocks/modal.ts'
import { option } from '../../slack/blocks/option.ts'
import { checkboxes, externalSelect, mostCheckboxes } from '../../slack/blocks/selects.ts'
import type { Ticked } from '../../slack/commands/handlers.ts'
import { phraseWords } from '../../slack/text/phrase-words.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import { cannotMoveWords, nothingWords } from './gone.ts'
import type { OfferedAddresses } from './offered.ts'

export const evacuationForm = {
  callbackId: 'evacuate-server',
  title: 'Evacuate a server',
  server: 'evacuate-from',
  target: 'evacuate-to',
  addresses: 'evacuate-addresses',
} as const

/** The button *Evacuate…* of a look-up. */
export const evacuateThis = 'evacuate-this-server'

export interface EvacuationFormView {
  metadata: string
  server?: PlainTextOption | undefined
  target?: PlainTextOption | undefined
  /** Read from the account, or the blocks of a form that was shown before. */
  addresses?: OfferedAddresses | KnownBlock[] | undefined
  reason?: string | undefined
  /** Why the form was refused. Shown on top, above what was entered. */
  problem?: Mrkdwn | undefined
}

export function evacuationModal({ metadata, server, target, addresses, reason, problem }: EvacuationFormView): ModalView {
  const purpose = purposeOf(metadata, [server?.value, target?.value], evacuationForm.title)
  return modal({
    callbackId: evacuationForm.callbackId,
    title: purpose.title,
    submit: 'Request approval',
    metadata,
    blocks: [
      ...problemBlocks(problem),
      serverSelect(evacuationForm.server, 'Server', 'Its Elastic IPs are moved to another server.', server),
      serverSelect(evacuationForm.target, 'Target', 'Must be in the same project and site.', target),
      ...(Array.isArray(addresses) ? addresses : addresses ? addressBlocks(addresses) : []),
      ...reasonField(metadata, reason, purpose),
    ],
  })
}

/** Slack sends each choice as a click, because the offered addresses depend on both servers. */
function serverSelect(id: string, label: string, hint: string, initialOption: PlainTextOption | undefined): KnownBlock {
  const placeholder = 'Choose a server'
  return input({
    blockId: id,
    label,
    hint,
    dispatchAction: true,
    element: externalSelect({ actionId: id, placeholder, minQueryLength: 0, initialOption }),
  })
}

const addressPrefix = `${evacuationForm.addresses}:`

/** The most groups that fit into a form. The other addresses need another request. */
const mostGroups = 10

function addressBlocks(addresses: OfferedAddresses): KnownBlock[] {
  const { serverId, serverName, offered, cannotMove, bgp, lastMove, old, sending } = addresses
  const leaves = bgpWords(bgp, serverName)
  const staying = leaves ? wholeSection(phraseWords(leaves)) : []
  if (offered.length + cannotMove.length === 0) return [...wholeSection(nothingWords(serverName, lastMove)), ...staying]
  const groups = Array.from({ length: Math.min(mostGroups, Math.ceil(offered.length / mostCheckboxes)) }, (_, index) =>
    offered.slice(index * mostCheckboxes, (index + 1) * mostCheckboxes),
  )
  const left = offered.length - groups.flat().length
  const notes = [
    ...context(oldNotes({ old })),
    ...(left > 0 ? context([mrkdwn`${left} more addresses don't fit in here. Move them with another request.`]) : []),
    ...(offered.length > mostEvacuated ? context([mrkdwn`One request moves up to ${mostEvacuated} addresses.`]) : []),
    ...(sending
      ? context([mrkdwn`Takes about ${formatDuration(sending.takesMs)}: the account allows ${sending.perMinute} changes a minute.`])
      : []),
    ...(cannotMove.length > 0 ? wholeSection(cannotMoveWords(addresses)) : []),
    ...staying,
  ]
  return [
    ...groups.map((group, index) => addressGroup(group, `${addressPrefix}${serverId}:${index}`, index, groups.length > 1)),
    ...notes.map((note, index) => ({ ...note, block_id: `${addressPrefix}${serverId}:note-${index}` })),
  ]
}

const KeptBlock = z.looseObject({ type: z.string(), block_id: z.string().startsWith(addressPrefix) })
const KeptOptions = z.array(z.looseObject({ value: z.string() }))

/**
 * Returns the blocks with the addresses of a form that was sent, as they were ticked. They are not read again, because the person may not
 * have seen new ones. They are not left out, because a form without addresses moves all of them.
 */
export function keptAddresses(blocks: unknown[], ticked: Ticked): KnownBlock[] {
  return blocks.flatMap((block) => {
    const { data } = KeptBlock.safeParse(block)
    if (!data) return []
    const { initial_options: _, ...element } = z.looseObject({}).catch({}).parse(data.element)
    const initial = KeptOptions.catch([])
      .parse(element.options)
      .filter(({ value }) => ticked[data.block_id]?.includes(value))
    const shown = data.type === 'input' ? { element: { ...element, ...(initial.length > 0 ? { initial_options: initial } : {}) } } : {}
    return [{ ...data, ...shown } as unknown as KnownBlock]
  })
}

function addressGroup(group: OfferedAddresses['offered'], blockId: string, index: number, isOneOfSeveral: boolean): KnownBlock {
  const options = group.map(({ elasticIpId, address, seenAgoMs }) =>
    option({
      text: address,
      value: elasticIpId,
      ...(seenAgoMs === undefined ? {} : { description: `No server shown. Seen here ${formatAgo(seenAgoMs)}.` }),
    }),
  )
  return input({
    blockId,
    label: index === 0 ? 'Addresses to move' : 'More addresses',
    // Slack would ask for at least one address of each group.
    optional: isOneOfSeveral,
    element: checkboxes({ actionId: evacuationForm.addresses, options, ticked: options.filter((_, at) => group[at]?.isTicked) }),
  })
}

/** Returns the ids of the blocks with addresses to tick. */
export function addressGroupIds(ticked: Ticked): string[] {
  return Object.keys(ticked).filter((blockId) => blockId.startsWith(addressPrefix))
}

/** Returns the ticked addresses, each once. Undefined if the form showed none to tick. */
export function tickedAddresses(ticked: Ticked): string[] | undefined {
  const groups = addressGroupIds(ticked)
  return groups.length === 0 ? undefined : [...new Set(groups.flatMap((blockId) => ticked[blockId] ?? []))]
}
