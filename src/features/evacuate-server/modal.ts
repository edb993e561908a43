import type { KnownBlock, ModalView, PlainTextOption } from '@slack/web-api'
import { z } from 'zod'
import { mostEvacuated } from '../../domain/evacuation/evacuation.ts'
import { EvacuationFinding, explainEvacuation } from '../../domain/evacuation/findings.ts'
import { formatAgo } from '../../domain/text/duration.ts'
import { reasonField } from '../../requests/messages/forms/reason-field.ts'
import { shortId } from '../../requests/messages/words.ts'
import { context, problemBlocks, wholeSection } from '../../slack/blocks/blocks.ts'
import { input } from '../../slack/blocks/inputs.ts'
import { modal } from '../../slack/blocks/modal.ts'
import { noticeView } from '../../slack/blocks/notice.ts'
import { option } from '../../slack/blocks/option.ts'
import { checkboxes, externalSelect, mostCheckboxes } from '../../slack/blocks/selects.ts'
import type { Ticked } from '../../slack/commands/handlers.ts'
import { code, dateTime, joinMrkdwn, link, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { LastEvacuation, OfferedAddresses } from './addresses.ts'

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
  return modal({
    callbackId: evacuationForm.callbackId,
    title: evacuationForm.title,
    submit: 'Request approval',
    metadata,
    blocks: [
      ...problemBlocks(problem),
      serverSelect(evacuationForm.server, 'Server', 'Its Elastic IPs are moved to another server.', server),
      serverSelect(evacuationForm.target, 'Target', 'Must be in the same project and site.', target),
      ...(Array.isArray(addresses) ? addresses : addresses ? addressBlocks(addresses) : []),
      ...reasonField(metadata, reason),
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

function addressBlocks({ serverId, serverName, offered, cannotMove, lastEvacuation }: OfferedAddresses): KnownBlock[] {
  if (offered.length + cannotMove.length === 0) return wholeSection(nothingWords(serverName, lastEvacuation))
  const groups = Array.from({ length: Math.min(mostGroups, Math.ceil(offered.length / mostCheckboxes)) }, (_, index) =>
    offered.slice(index * mostCheckboxes, (index + 1) * mostCheckboxes),
  )
  const left = offered.length - groups.flat().length
  const notes = [
    ...(left > 0 ? context([mrkdwn`${left} more addresses don't fit in here. Move them with another request.`]) : []),
    ...(offered.length > mostEvacuated ? context([mrkdwn`One request moves up to ${mostEvacuated} addresses.`]) : []),
    ...(cannotMove.length > 0 ? wholeSection(cannotMoveWords(cannotMove, serverName)) : []),
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

/** Says that a server has nothing to move, as far as it is known, and where it may have gone. */
function nothingWords(server: string, last: LastEvacuation | undefined): Mrkdwn {
  const nothing = mrkdwn`:warning: Nothing to move. The account shows no Elastic IPs on ${code(server)}, and Lockkeeper saw none there in the past 24 h.`
  if (!last) return nothing
  const request = link(last.link, `request ${shortId({ id: last.requestId })}`)
  return mrkdwn`${nothing} Last evacuation: to ${code(last.to)}, ended ${dateTime(last.endedAt)} (${request}).`
}

/**
 * Says what became of the addresses of an earlier request, if none of them is on the server anymore. A form would offer nothing to choose, and
 * another target would not change that. Returns undefined if the form has something to offer.
 */
export function nothingLeftView({ serverName, offered, cannotMove }: OfferedAddresses): ModalView | undefined {
  const isGone = (each: OfferedAddresses['cannotMove'][number]) => nowOn(each) !== undefined || each.finding.code === 'no-elastic-ip'
  if (offered.length > 0 || cannotMove.length === 0 || !cannotMove.every(isGone)) return undefined
  const words = mrkdwn`No address of this request is on ${code(serverName)} anymore:`
  return noticeView(joinMrkdwn([words, ...cannotMove.map(lineOf)], '\n'), 'Nothing to move')
}

/** Says which addresses are on another server by now, and which stay because they can't be moved. */
function cannotMoveWords(cannotMove: OfferedAddresses['cannotMove'], serverName: string): Mrkdwn {
  const [gone = [], stuck = []] = [true, false].map((isGone) => cannotMove.filter((each) => (nowOn(each) !== undefined) === isGone))
  return joinMrkdwn(
    [
      ...(gone.length > 0 ? [mrkdwn`*No longer on ${code(serverName)}:*`, ...gone.map(lineOf)] : []),
      ...(stuck.length > 0 ? [mrkdwn`*Left out, because they can't be moved:*`, ...stuck.map(lineOf)] : []),
    ],
    '\n',
  )
}

function lineOf(each: OfferedAddresses['cannotMove'][number]): Mrkdwn {
  const now = nowOn(each)
  return now === undefined ? mrkdwn`•  ${explainEvacuation(each.finding)?.why ?? each.address}` : mrkdwn`•  ${each.address} (on ${now})`
}

/** The server that an address is on by now, if it isn't the one that is evacuated. */
function nowOn({ finding }: OfferedAddresses['cannotMove'][number]): string | undefined {
  const known = EvacuationFinding.safeParse(finding)
  return known.success && known.data.code === 'not-on-server' ? known.data.now : undefined
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
