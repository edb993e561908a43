import { z } from 'zod'
import { Finding, type Words, wordsFrom } from '../change/finding.ts'
import { MoveFinding } from '../elastic-ip-move/findings.ts'
import { moveWords } from '../elastic-ip-move/words.ts'
import { canonicalJson } from '../signing/canonical-json.ts'
import { formatAge, formatAgo } from '../text/duration.ts'
import { type Phrase, phrase, someNames } from '../text/phrase.ts'

const server = z.string()
const address = z.string()
const Cause = z.object({ address, finding: Finding })

/** Everything that can prevent an evacuation, keep an address out of it, or end it. Each address also has the findings of its move. */
export const EvacuationFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('same-server'), server }),
  /** `bgp`: the BGP addresses that it may announce. */
  z.object({ code: z.literal('nothing-on-server'), server, bgp: z.array(address).optional() }),
  z.object({ code: z.literal('nothing-chosen'), server }),
  z.object({ code: z.literal('too-many-addresses'), server, count: z.number(), most: z.number() }),
  /** `moves`: how many of the addresses can be moved. `isChosen`: somebody ticked them in the form. */
  z.object({
    code: z.literal('addresses-cannot-move'),
    server,
    target: server,
    moves: z.number(),
    causes: z.array(Cause),
    isChosen: z.literal(true).optional(),
  }),

  z.object({ code: z.literal('left-out'), causes: z.array(Cause) }),
  z.object({ code: z.literal('last-seen'), server, count: z.number(), oldestMs: z.number() }),

  z.object({ code: z.literal('not-chosen'), address }),
  z.object({ code: z.literal('seen-long-ago'), address, server, agoMs: z.number() }),
  z.object({ code: z.literal('not-on-server'), address, server, now: server }),
  z.object({ code: z.literal('project-of-others'), address, project: z.string() }),
  /** Neither the account nor Lockkeeper's own list of seen addresses has it on the server. */
  z.object({ code: z.literal('not-seen-there'), address, server }),
  z.object({ code: z.literal('came-later'), address, server }),

  z.object({ code: z.literal('server-id-changed'), before: server, now: server }),
  z.object({ code: z.literal('target-project-changed'), server, before: z.string(), now: z.string() }),
  z.object({ code: z.literal('nothing-left'), server, causes: z.array(Finding) }),
])
export type EvacuationFinding = z.infer<typeof EvacuationFinding>

/** Puts a finding of an evacuation, or of the move of one of its addresses, into words. Undefined for any other finding. */
export function explainEvacuation(finding: Finding): Words | undefined {
  const move = MoveFinding.safeParse(finding)
  if (move.success) return moveWords(move.data)
  const own = EvacuationFinding.safeParse(finding)
  return own.success ? evacuationWords(own.data) : undefined
}

export function evacuationWords(finding: EvacuationFinding): Words {
  const words = wordsFrom(sentenceOf(finding))
  if (finding.code === 'nothing-on-server') return { ...words, next: 'Check the account.' }
  if (finding.code === 'nothing-left' && finding.causes.every(({ code }) => code === 'not-on-server')) {
    return {
      ...words,
      next: finding.causes.length === 1 ? 'To move it from there, request its move.' : 'To move them from there, request a move of each.',
    }
  }
  return finding.code === 'left-out' && finding.causes.every(isHarmless) ? { ...words, isNote: true } : words
}

/** Whether an address is left out as somebody wants it, or is not on the server anyway. Any other stays on the server against expectation. */
function isHarmless({ finding: { code } }: z.infer<typeof Cause>): boolean {
  return code === 'not-chosen' || code === 'not-on-server' || code === 'no-elastic-ip'
}

function sentenceOf(finding: EvacuationFinding): Phrase {
  switch (finding.code) {
    case 'same-server':
      return phrase`${finding.server} can't be evacuated to itself. Choose another server.`
    case 'nothing-on-server':
      return phrase`The account shows no Elastic IPs on ${finding.server}, so there is nothing to evacuate.${finding.bgp ? [' ', ...(bgpWords(finding.bgp, finding.server) ?? [])] : []}`
    case 'nothing-chosen':
      return phrase`Choose at least one address of ${finding.server}.`
    case 'too-many-addresses':
      return phrase`${finding.server} has ${finding.count} addresses, and one request moves up to ${finding.most}. Leave the target out to choose some of them in the form.`
    case 'addresses-cannot-move':
      return cannotMove(finding)
    case 'left-out':
      // With one reason, the count would only repeat what it says.
      if (finding.causes.every((cause) => cause.finding.code === 'not-chosen')) return listed(finding.causes)
      return phrase`${[finding.causes.length === 1 ? '1 address is' : `${finding.causes.length} addresses are`]} left out. ${listed(finding.causes)}`
    case 'last-seen':
      return finding.count === 1
        ? phrase`The account shows no server for 1 address. Lockkeeper saw it on ${finding.server} ${[formatAge(finding.oldestMs)]} before this request, and checks it again before the move.`
        : phrase`The account shows no server for ${finding.count} addresses. Lockkeeper saw all of them on ${finding.server} at most ${[formatAge(wholeUnits(finding.oldestMs))]} before this request, and checks each again before its move.`
    case 'not-chosen':
      return phrase`${finding.address} isn't part of this request.`
    case 'seen-long-ago':
      return phrase`The account shows no server for ${finding.address}. Lockkeeper saw it on ${finding.server} ${[formatAgo(finding.agoMs)]}.`
    case 'not-on-server':
      return phrase`${finding.address} is on ${finding.now}, not on ${finding.server}.`
    case 'project-of-others':
      return phrase`${finding.address} is in project ${finding.project}. An evacuation moves addresses of one project only.`
    case 'not-seen-there':
      return phrase`The account shows no server for ${finding.address}, and Lockkeeper didn't see it on ${finding.server} in the past 24 h.`
    case 'came-later':
      return phrase`${finding.address} was assigned to ${finding.server} after the request, so it wasn't moved.`
    case 'server-id-changed':
      return phrase`This was requested as ${finding.before}, but the account API shows it as ${finding.now}. Request it again with that id.`
    case 'target-project-changed':
      return phrase`${finding.server} was in project ${finding.before} when this was requested, and is in ${finding.now} now.`
    case 'nothing-left':
      if (finding.causes.length === 1) return whys(finding.causes)
      return phrase`None of the addresses can be moved from ${finding.server} anymore. ${whys(finding.causes)}`
  }
}

/** Names the BGP addresses that a server may announce, and says what to do. Undefined if there are none. */
export function bgpWords(bgp: string[] = [], server: string): Phrase | undefined {
  if (bgp.length === 0) return undefined
  const sessions = bgp.length === 1 ? 'its session' : 'their sessions'
  return phrase`${someNames(bgp, mostListed)} not moved: BGP, may be announced by ${server}. Close ${[sessions]} by hand.`
}

/** Rounds up to whole minutes, or to whole hours: what was seen in the last 61 minutes was not all seen in the last hour. */
function wholeUnits(ms: number): number {
  const unitMs = ms > 3_600_000 ? 3_600_000 : 60_000
  return Math.max(1, Math.ceil(ms / unitMs)) * unitMs
}

function cannotMove({ server, target, moves, causes, isChosen }: Extract<EvacuationFinding, { code: 'addresses-cannot-move' }>): Phrase {
  const all = moves + causes.length
  // A chosen address may be on another server by now.
  const which = isChosen ? phrase`${all} chosen addresses` : phrase`${all} addresses of ${server}`
  const choose = isChosen
    ? `To move the others, untick ${causes.length === 1 ? 'this one' : 'these'}.`
    : 'To move the others, leave out the target and choose them in the form.'
  return phrase`${causes.length} of ${which} can't be moved to ${target}, so nothing was requested. ${listed(causes)}${[moves > 0 ? ` ${choose}` : '']}`
}

/** A refusal lists at most this many reasons, and counts the others. */
const mostListed = 10

function listed(causes: z.infer<typeof Cause>[]): Phrase {
  return whys(causes.map(({ finding }) => finding))
}

/** Joins the reasons, each a sentence that names its address, and then the other addresses for which it holds. */
function whys(causes: Finding[]): Phrase {
  const groups = [...Map.groupBy(causes, withoutAddress).values()]
  const sentences = groups.slice(0, mostListed).map(whyOfSome)
  const more = groups.slice(mostListed).flat().length
  const all = more > 0 ? [...sentences, phrase`And ${more} more.`] : sentences
  return all.flatMap((sentence, index) => (index === 0 ? sentence : [' ', ...sentence]))
}

function whyOfSome(some: Finding[]): Phrase {
  const [finding = { code: 'unknown' }, ...others] = some
  if (finding.code === 'not-chosen') return phrase`${addressesOf(some)} ${[some.length === 1 ? "isn't" : "aren't"]} part of this request.`
  const words = explainEvacuation(finding)
  const why = words?.phrase ?? [words?.why ?? `${finding.code}.`]
  return others.length === 0 ? why : phrase`${why} The same for ${addressesOf(others)}.`
}

function addressesOf(findings: Finding[]): Phrase {
  return findings.flatMap((finding, index) => phrase`${[index === 0 ? '' : ', ']}${String(finding.address)}`)
}

/** Returns what is the same for all addresses with one reason. A reason that names no address stands alone. */
function withoutAddress({ address, ...reason }: Finding, index: number): string {
  return address === undefined ? `${index}` : canonicalJson(reason)
}
