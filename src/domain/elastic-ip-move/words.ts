import { namesakesAre } from '../account/namesakes.ts'
import { type Words, wordsFrom } from '../change/finding.ts'
import { moment, type Phrase, phrase } from '../text/phrase.ts'
import type { MoveFinding } from './findings.ts'

/** Puts a finding into words: a phrase after *Not checked:* for what stays unchecked, and a sentence for everything else. */
export function moveWords(finding: MoveFinding): Words {
  const next = nextAfter(finding)
  return { ...wordsFrom(sentenceOf(finding)), ...(next === undefined ? {} : { next }) }
}

/** Says what to do if the same request would fail again. Returns undefined if it may succeed later. */
function nextAfter(finding: MoveFinding): string | undefined {
  switch (finding.code) {
    case 'no-server':
      return finding.name === undefined ? 'Check the account.' : 'Choose another server.'
    case 'no-elastic-ip':
    case 'elastic-ip-gone':
    case 'being-released':
      return 'Check the account.'
    case 'bgp-address':
      return 'Close or open its BGP sessions in the dashboard.'
    case 'status-error':
      return supportNeeded
    case 'not-active':
      return finding.status === 'error' ? supportNeeded : undefined
    case 'already-there':
      return 'There is nothing left to do.'
    case 'other-project':
    case 'other-site':
      return 'Choose another server.'
    default:
      return undefined
  }
}

const supportNeeded = "Contact the provider's support."

function sentenceOf(finding: MoveFinding): Phrase {
  switch (finding.code) {
    case 'no-elastic-ip':
      return finding.address === undefined
        ? phrase`No Elastic IP ${finding.elasticIpId} on the account.`
        : phrase`${finding.address} is no longer on the account, so it can't be moved.`
    case 'no-server':
      return finding.name === undefined
        ? phrase`No server ${finding.serverId} on the account.`
        : phrase`Server ${finding.name} is no longer on the account.`
    case 'bgp-address':
      return phrase`${finding.address} is a BGP address: several servers can announce it, so it isn't moved.`
    case 'already-moving':
      return phrase`${finding.address} is already moving${finding.server ? phrase` to ${finding.server}` : []}. Wait until that move has ended, then request again.`
    case 'not-active':
      return phrase`${finding.address} has status ${finding.status}. Only active Elastic IPs can be moved.`
    case 'already-there':
      return phrase`${finding.address} is already on ${finding.server}.`
    case 'other-project':
      return phrase`${finding.server} is in project ${finding.serverProject}, and ${finding.address} is in ${finding.project}. An Elastic IP can only be moved within its project.`
    case 'other-site': {
      const holder = finding.holder ? phrase`${finding.holder}, which has ${finding.address},` : finding.address
      return phrase`${finding.server} is in site ${finding.serverSite}, and ${holder} is in ${finding.site}. An Elastic IP can only be moved within its site.`
    }
    case 'elastic-ip-unread':
      return phrase`whether Elastic IP ${finding.elasticIpId} exists and is active (the account API didn't answer)`
    case 'server-unread':
      return phrase`whether server ${finding.serverId} exists (the account API didn't answer)`
    case 'status-not-shown':
      return phrase`whether ${finding.address} is active (the account API doesn't show its status)`
    case 'server-not-shown':
      return phrase`The account shows no server for ${finding.address}. It is unassigned, or its server isn't active.`
    case 'project-not-compared':
      return phrase`whether ${finding.server} is in the same project (${whyOpen(finding.slug)})`
    case 'site-not-compared':
      return phrase`whether ${finding.server} is in the same site (${whyOpen(finding.slug)})`
    case 'names-not-compared':
      return phrase`whether another server is called ${finding.server} (couldn't read all servers)`
    case 'server-not-on':
      return phrase`${finding.server} has status ${finding.status}. Addresses on it answer only once it is on.`
    case 'server-deletion-scheduled':
      return phrase`${finding.server} is scheduled for deletion at ${moment(finding.at)}.`
    case 'server-locked':
      return phrase`${finding.server} is locked on the account.`
    case 'server-label':
      return phrase`${finding.server} has the label ${finding.label}.`
    case 'same-name':
      if (finding.places) {
        const { other, own } = finding.places
        return phrase`There is also a ${finding.server} in ${other.site} (${other.project}). This move goes to the one in ${own.site} (${own.project}).`
      }
      return phrase`${namesakesAre(finding, { one: 'server', many: 'servers' })} also called ${finding.server}. This move goes to ${finding.serverId}.`
    case 'hidden-characters':
      return phrase`The name of server ${finding.serverId} contains characters that cannot be seen. Compare its id.`
    case 'id-changed':
      return phrase`This was requested as ${finding.before}, but the account API shows it as ${finding.now}. Request it again with that id.`
    case 'server-changed':
      return phrase`${finding.address} was on ${finding.before} when this was requested, and is on ${finding.now} now.`
    case 'server-shown':
      return phrase`The account showed no server for ${finding.address} when this was requested. It is on ${finding.now} now.`
    case 'address-changed':
      return phrase`The Elastic IP's address was ${finding.before} when this was requested, and is ${finding.now} now.`
    case 'project-changed':
      return phrase`It was in project ${finding.before} when this was requested, and is in ${finding.now} now.`
    case 'assigned-to-server-not-on':
      return phrase`${finding.server} has status ${finding.status}. The address doesn't answer until the server is on.`
    case 'server-was-not-on':
      return phrase`${finding.server} had status ${finding.status} when the move was sent. Check that the address answers.`
    case 'elastic-ip-gone':
      return phrase`${finding.address} no longer exists on the account.`
    case 'status-error':
      return phrase`The account API shows ${finding.address} with status error.`
    case 'being-released':
      return phrase`${finding.address} is being released from the account.`
    case 'back-on-old-server':
      return phrase`The account API accepted the move, but ${finding.address} is active on ${finding.server} again.`
    case 'still-on-old-server':
      return phrase`${finding.address} is still active on ${finding.server}. The move didn't start and nothing was changed.`
    case 'moved-by-others':
      return phrase`${finding.address} ${[finding.isMoving ? 'is moving to' : 'is on']} ${finding.server}. Another change moved it.`
  }
}

function whyOpen(slug: string | undefined): Phrase {
  return slug === undefined ? ["the account API doesn't show it"] : phrase`both are called ${slug}, but their ids differ`
}
