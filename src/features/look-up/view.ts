import type { KnownBlock, ModalView } from '@slack/web-api'
import type { Offer, OfferedThing } from '../../domain/change/offer.ts'
import type { Missing } from '../../domain/errors/missing.ts'
import type { Request } from '../../domain/request/request.ts'
import { type Phrase, withoutOwner } from '../../domain/text/phrase.ts'
import { stateWithCount } from '../../requests/messages/items/items.ts'
import { button, context, divider, sectionWithButton, wholeSection } from '../../slack/blocks/blocks.ts'
import { oldNotes } from '../../slack/blocks/cut-note.ts'
import { modal } from '../../slack/blocks/modal.ts'
import { phraseWords } from '../../slack/text/phrase-words.ts'
import { someTexts } from '../../slack/text/some-texts.ts'
import { code, joinMrkdwn, link, type Mrkdwn, mention, mrkdwn } from '../../slack/text/text.ts'
import type { ThingNow } from './read-things.ts'
import { thingLine } from './thing-line.ts'
import { cannotMoveWords } from './why-not-movable.ts'

const title = 'Look up in Lockkeeper'

export interface FoundThing {
  now: ThingNow
  requests: { request: Request; title: Phrase; link: string | undefined }[]
  offers: Offer[]
  /** The server that a move can be filled with: the only other one that the message names. */
  serverId: string | undefined
}

interface LookedUp {
  metadata: string
  things: FoundThing[]
  /** How many things were read. */
  read: number
  /** How many further things the message names. */
  left: number
  /** Addresses and ids that the message names and the account doesn't have. */
  notFound: string[]
  /** Whether a list of the account could not be read to its end. */
  isIncomplete: boolean
  /** Set if the account was read earlier. */
  old: Missing['old']
  /** How many open requests were not searched. */
  unread: number
}

export function lookingUpView(): ModalView {
  return modal({ title, blocks: wholeSection(mrkdwn`Searching this message…`) })
}

/** Shows what a message names, as it is now, each with its open requests and its buttons. */
export function lookedUpView({ metadata, things, read, left, notFound, isIncomplete, old, unread }: LookedUp): ModalView {
  const notes = [
    ...oldNotes({ old }),
    ...(left > 0 ? [mrkdwn`The message names ${left} more. Only the first ${read} were looked up.`] : []),
    ...(isIncomplete ? [mrkdwn`:warning: Couldn't read every list of the account. The message may name more.`] : []),
    ...(unread > 0 && things.length > 0 ? [mrkdwn`:warning: ${unread} more open requests weren't searched.`] : []),
    ...(notFound.length > 0 ? [mrkdwn`Not found on the account: ${someTexts(notFound.map(code))}.`] : []),
  ]
  const blocks = things.length === 0 ? nothingFound : things.flatMap(thingBlocks)
  return modal({ title, metadata, blocks: [...blocks, ...context(notes)] })
}

const nothingFound = wholeSection(
  mrkdwn`This message names no Elastic IP, server or virtual machine of the account. I searched for addresses, hostnames and ids.`,
)

function thingBlocks({ now, requests, offers, serverId }: FoundThing, index: number): KnownBlock[] {
  const [offer] = now.is === 'gone' || isEmptyServer(now) || isStuck(now) ? [] : offers
  const value = JSON.stringify({ version: 1, id: now.id, ...(serverId ? { serverId } : {}) } satisfies OfferedThing)
  const line = thingLine(now)
  const shown = offer ? [sectionWithButton(line, button({ text: offer.label, actionId: offer.actionId, value }))] : wholeSection(line)
  return [...(index > 0 ? [divider()] : []), ...shown, ...requests.flatMap((each) => context([requestLine(each)]))]
}

/** Whether nothing can be moved away from it. The account can show no addresses of a server that is off, and they can still be there. */
function isEmptyServer(now: ThingNow): boolean {
  return now.is === 'server' && now.server.status === 'on' && now.elasticIps?.length === 0
}

/** Whether it is an Elastic IP that can't be moved. Its line says why. */
function isStuck(now: ThingNow): boolean {
  return now.is === 'elastic-ip' && cannotMoveWords(now.elasticIp) !== undefined
}

function requestLine({ request, title, link: address }: FoundThing['requests'][number]): Mrkdwn {
  const parts = [
    mrkdwn`Open request: ${phraseWords(withoutOwner(title, request.origin.userId))}, ${stateWithCount(request)}`,
    mrkdwn`requested by ${mention(request.origin.userId)}`,
    link(address, 'Open the request'),
  ]
  return joinMrkdwn(parts, '  ·  ')
}
