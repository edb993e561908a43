import type { AuditEntry } from '../../../audit/entry.ts'
import { breakGlassCallbackId, type CardButtonId, cardButtons, refreshHome } from '../../../requests/messages/buttons.ts'

/**
 * What a person tries with each button of a request, and with each right that a request needs. The request follows: `approve`, `a request`.
 */
const triedOnRequest: Record<CardButtonId, string> & Record<string, string> = {
  [cardButtons.approve]: 'approve',
  [cardButtons.reject]: 'reject',
  [cardButtons.withdraw]: 'withdraw',
  [cardButtons.handOver]: 'get the token of',
  [cardButtons.again]: 'repeat',
  [cardButtons.reverse]: 'undo',
  [cardButtons.retry]: 'retry the rest of',
  [cardButtons.stopTracking]: 'stop the tracking of',
  [cardButtons.trackAgain]: 'restart the tracking of',
  [cardButtons.details]: 'see the details of',
  [breakGlassCallbackId]: 'give an emergency approval of',
  decide: 'approve or reject',
  'break-glass': 'give an emergency approval of',
  withdraw: 'withdraw',
  issue: 'get the token of',
  track: 'stop or restart the tracking of',
}

/**
 * What a person tries with each command, button, form, picker and shortcut, by the name in the entry. A line stays when its command is deleted, because old entries still name it.
 */
const tried: Record<string, string> = {
  'command help': 'read the help',
  'command unknown': 'run an unknown command',
  'command ip move': 'move an Elastic IP',
  'command evacuate': 'evacuate a server',
  'command vm rename': 'rename a virtual machine',
  'command keys create': 'create an API key',
  'command keys rotate': 'rotate an API key',
  'command keys revoke': 'revoke an API key',
  'command ip list': 'list Elastic IPs',
  'command moves': 'list moves',
  'command servers': 'list servers',
  'command vms': 'list virtual machines',
  'command plans': 'list plans',
  'command baselines': 'list baselines',
  'command keys': 'list API keys',
  'command pending': 'list requests that need approval',
  'command audit': 'read the audit',
  'command whoami': 'see their rights',
  'command doctor': 'check the setup',
  'shortcut move-elastic-ip': 'move an Elastic IP',
  'shortcut look-up': 'look up a message',
  home: 'open the Home tab',
  [`click ${refreshHome}`]: 'refresh the Home tab',
  'click page-previous': 'turn the page of a list',
  'click page-next': 'turn the page of a list',
  'click page-refresh': 'refresh a list',
  'click open-move-elastic-ip': 'move an Elastic IP',
  'click open-evacuate-server': 'evacuate a server',
  'click open-rename-virtual-machine': 'rename a virtual machine',
  'click open-create-api-key': 'create an API key',
  'click details:elastic-ip': 'see the details of an Elastic IP',
  'click details:server': 'see the details of a server',
  'click details:virtual-machine': 'see the details of a virtual machine',
  'click details:plan': 'see the details of a plan',
  'click details:api-key': 'see the details of an API key',
  'click details:audited-request': 'read the audit of a request',
  'click item:elastic-ip:ip.move': 'move an Elastic IP',
  'click item:server:ip.evacuate': 'evacuate a server',
  'click item:virtual-machine:vm.rename': 'rename a virtual machine',
  'click item:api-key:key.rotate': 'rotate an API key',
  'click item:api-key:key.revoke': 'revoke an API key',
  'click elastic-ip': 'move an Elastic IP',
  'click server': 'move an Elastic IP',
  'click move-this-elastic-ip': 'move an Elastic IP',
  'click evacuate-from': 'evacuate a server',
  'click evacuate-to': 'evacuate a server',
  'click evacuate-this-server': 'evacuate a server',
  'click rename-this-one': 'rename a virtual machine',
  'click move-to-this-one': 'move an Elastic IP',
  'click evacuate-to-this-one': 'evacuate a server',
  'click doctor-button': 'check the setup',
  'click doctor-picker': 'check the setup',
  'click doctor-table-seen': 'check the setup',
  'click doctor-table-unseen': 'check the setup',
  'submission choose-channel': 'choose the channel of a request',
  'submission move-elastic-ip': 'move an Elastic IP',
  'submission evacuate-server': 'evacuate a server',
  'submission rename-virtual-machine': 'rename a virtual machine',
  'submission create-api-key': 'create an API key',
  'submission rotate-api-key': 'rotate an API key',
  'submission revoke-api-key': 'revoke an API key',
  'options elastic-ip': 'search for an Elastic IP',
  'options server': 'search for a server',
  'options evacuate-from': 'search for a server',
  'options evacuate-to': 'search for a server',
  'options virtual-machine': 'search for a virtual machine',
  'options api-key': 'search for an API key',
  'options doctor-picker': 'check the setup',
}

/**
 * The kinds and actions that find an attempt, by what was tried. So `/infra audit ip.move` also finds a move that was refused at once. A
 * line stays when its kind is deleted, because old entries still name it.
 */
const foundBy: Record<string, string[]> = {
  'move an Elastic IP': ['kind ip.move'],
  'evacuate a server': ['kind ip.evacuate'],
  'rename a virtual machine': ['kind vm.rename'],
  'create an API key': ['kind key.create'],
  'rotate an API key': ['kind key.rotate'],
  'revoke an API key': ['kind key.revoke'],
  approve: ['action approve'],
  reject: ['action reject'],
  'approve or reject': ['action approve', 'action reject'],
  'give an emergency approval of': ['action break-glass'],
  withdraw: ['action withdraw'],
  undo: ['action undo'],
  'stop the tracking of': ['action stop-tracking'],
  'restart the tracking of': ['action track-again'],
  'stop or restart the tracking of': ['action stop-tracking', 'action track-again'],
}

/** Returns what somebody tried with a request, without the request: `approve`. Undefined for an unknown button. */
export function triedWithRequest(attempted: string): string | undefined {
  return Object.hasOwn(triedOnRequest, attempted) ? triedOnRequest[attempted] : undefined
}

/**
 * Returns what somebody tried, by the text of the entry: `evacuate a server` for `command evacuate`. Undefined for a
 * name of another version.
 */
export function triedBy(text: string): string | undefined {
  const onRequest = triedWithCard(text)
  if (onRequest !== undefined) return `${onRequest} a request`
  return Object.hasOwn(tried, text) ? tried[text] : undefined
}

/**
 * Returns the kinds and actions that find a refused attempt: `kind ip.move`, `action approve`. The person may have been refused before the
 * request or its kind was read.
 */
export function foundWith({ act, attempted, text = '' }: Pick<AuditEntry, 'act' | 'attempted' | 'text'>): string[] {
  if (act !== 'refused' || attempted === undefined) return []
  if (attempted === 'request') return ['action request']
  const what = attempted === 'read' ? (triedWithCard(text) ?? triedBy(text)) : triedWithRequest(attempted)
  return what !== undefined && Object.hasOwn(foundBy, what) ? (foundBy[what] ?? []) : []
}

/** Returns what somebody tried with a button of a card or its form, by the text of the entry: `approve` for `click request-approve`. */
function triedWithCard(text: string): string | undefined {
  const [, name] = /^(?:click|submission) (.*)$/s.exec(text) ?? []
  return name === undefined ? undefined : triedWithRequest(name)
}
