import { z } from 'zod'
import type { Words } from './finding.ts'

const address = z.string()
/** A server by hostname, or by id if it has no hostname. */
const server = z.string()
/** The labels of two things that differ. `distinctLabels` makes them, so that the labels differ, too. */
const between = { before: z.string(), now: z.string() }

/** Everything that can prevent a move, stay unchecked before it, or end it. */
export const MoveFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('no-elastic-ip'), elasticIpId: z.string() }),
  z.object({ code: z.literal('no-server'), serverId: z.string() }),
  z.object({ code: z.literal('already-moving'), address, server: server.optional() }),
  z.object({ code: z.literal('not-active'), address, status: z.string() }),
  z.object({ code: z.literal('already-there'), address, server }),
  z.object({ code: z.literal('other-project'), address, project: z.string(), server, serverProject: z.string() }),
  /** `holder`: the server that has the address, if the sites of two servers were compared. */
  z.object({ code: z.literal('other-site'), address, site: z.string(), server, serverSite: z.string(), holder: server.optional() }),

  z.object({ code: z.literal('elastic-ip-unread'), elasticIpId: z.string() }),
  z.object({ code: z.literal('server-unread'), serverId: z.string() }),
  z.object({ code: z.literal('status-not-shown'), address }),
  z.object({ code: z.literal('server-not-shown'), address }),
  /** `slug`: both have this slug, but different ids. */
  z.object({ code: z.literal('project-not-compared'), server, slug: z.string().optional() }),
  z.object({ code: z.literal('site-not-compared'), server, slug: z.string().optional() }),

  z.object({ code: z.literal('names-not-compared'), server }),

  z.object({ code: z.literal('server-not-on'), server, status: z.string() }),
  z.object({ code: z.literal('server-locked'), server }),
  /** `count`: how many other servers have the name. `others`: the ids of up to three of them. */
  z.object({ code: z.literal('same-name'), server, serverId: z.string(), others: z.array(z.string()), count: z.number() }),
  z.object({ code: z.literal('hidden-characters'), serverId: z.string() }),

  z.object({ code: z.literal('id-changed'), ...between }),
  z.object({ code: z.literal('server-changed'), address, ...between }),
  z.object({ code: z.literal('address-changed'), ...between }),
  z.object({ code: z.literal('project-changed'), ...between }),

  z.object({ code: z.literal('elastic-ip-gone'), address }),
  z.object({ code: z.literal('status-error'), address }),
  z.object({ code: z.literal('being-released'), address }),
  z.object({ code: z.literal('back-on-old-server'), address, server }),
  z.object({ code: z.literal('still-on-old-server'), address, server }),
  z.object({ code: z.literal('moved-by-others'), address, server, isMoving: z.boolean() }),
])
export type MoveFinding = z.infer<typeof MoveFinding>

/** Puts a finding into words: a phrase after *Not checked:* for what stays unchecked, and a sentence for everything else. */
export function moveWords(finding: MoveFinding): Words {
  return { why: sentenceOf(finding) }
}

function sentenceOf(finding: MoveFinding): string {
  switch (finding.code) {
    case 'no-elastic-ip':
      return `There is no Elastic IP ${finding.elasticIpId} on the account.`
    case 'no-server':
      return `There is no server ${finding.serverId} on the account.`
    case 'already-moving':
      return `${finding.address} is moving${finding.server ? ` to ${finding.server}` : ''} already. Wait until that move has ended, then ask again.`
    case 'not-active':
      return `${finding.address} is ${finding.status}, and only an active Elastic IP can be moved.`
    case 'already-there':
      return `${finding.address} is on ${finding.server} already, so there is nothing to move.`
    case 'other-project':
      return `${finding.server} is in project ${finding.serverProject}, and ${finding.address} is in ${finding.project}. An Elastic IP can only be moved within its project.`
    case 'other-site': {
      const holder = finding.holder ? `${finding.holder}, which has ${finding.address},` : finding.address
      return `${finding.server} is in site ${finding.serverSite}, and ${holder} is in ${finding.site}. An Elastic IP can only be moved within its site.`
    }
    case 'elastic-ip-unread':
      return `whether Elastic IP ${finding.elasticIpId} exists and is active (the account API did not answer)`
    case 'server-unread':
      return `whether server ${finding.serverId} exists (the account API did not answer)`
    case 'status-not-shown':
      return `whether ${finding.address} is active (the account API does not tell)`
    case 'server-not-shown':
      return `which server ${finding.address} is on (the account shows none)`
    case 'project-not-compared':
      return `whether ${finding.server} is in the same project (${whyOpen(finding.slug)})`
    case 'site-not-compared':
      return `whether ${finding.server} is in the same site (${whyOpen(finding.slug)})`
    case 'names-not-compared':
      return `whether another server is called ${finding.server} (the account API does not tell)`
    case 'server-not-on':
      return `${finding.server} has status ${finding.status}. The address does not answer there until the server is on.`
    case 'server-locked':
      return `${finding.server} is locked on the account.`
    case 'same-name':
      return `${namesakes(finding)} also called ${finding.server}. This move goes to ${finding.serverId}.`
    case 'hidden-characters':
      return `The name of server ${finding.serverId} contains characters that cannot be seen. Compare its id.`
    case 'id-changed':
      return `This was asked for as ${finding.before}, and the account API calls it ${finding.now}. Ask again with that id.`
    case 'server-changed':
      return `${finding.address} was on ${finding.before} when this was asked for, and is on ${finding.now} now.`
    case 'address-changed':
      return `The Elastic IP's address was ${finding.before} when this was asked for, and is ${finding.now} now.`
    case 'project-changed':
      return `It was in project ${finding.before} when this was asked for, and is in ${finding.now} now.`
    case 'elastic-ip-gone':
      return `${finding.address} no longer exists on the account.`
    case 'status-error':
      return `The account API reports ${finding.address} in status error.`
    case 'being-released':
      return `${finding.address} is being released from the account.`
    case 'back-on-old-server':
      return `The account API accepted the move, but ${finding.address} is active on ${finding.server} again.`
    case 'still-on-old-server':
      return `${finding.address} is still active on ${finding.server}: the move did not start and nothing was changed.`
    case 'moved-by-others':
      return `${finding.address} ${finding.isMoving ? 'is moving to' : 'is on'} ${finding.server}: it was moved by somebody else meanwhile.`
  }
}

function namesakes({ others, count }: { others: string[]; count: number }): string {
  const listed = `${others.join(', ')}${count > others.length ? ' …' : ''}`
  return count === 1 ? `Another server (${listed}) is` : `${count} other servers (${listed}) are`
}

function whyOpen(slug: string | undefined): string {
  return slug === undefined ? 'the account API does not tell' : `both are called ${slug}, but their ids differ`
}
