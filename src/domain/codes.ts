/** What a code means, and what to do about it. Both are sentences for operators. */
interface Meaning {
  means: string
  do: string
}

const findWriter = 'Find out who can write to Redis, change its password, run npm run audit:verify, and have people request it again.'

/** What the log from `warn` on (as `code`) and the notices to operators can say. docs/alerts-and-errors.md has a paragraph for each, with these sentences. */
export const errors = {
  // Notices to the operators' channel, which the log has, too.
  'api-key-rejected': { means: 'The account API answers 401 or 403.', do: 'Give the key the right, or replace it.' },
  'no-worker': {
    means: 'No process with ROLE=worker or all has run for half a minute to a minute.',
    do: 'Start a worker, or find in its log why it ended.',
  },
  'report-undeliverable': {
    means: 'Slack takes a message about a request neither in its channel nor as a direct message.',
    do: "Find the outcome in the audit with the request's id, and tell the requester.",
  },
  'record-changed': {
    means: 'Somebody changed the record of a request in Redis, or made an alert look handled by it.',
    do: findWriter,
  },
  'approvals-not-genuine': { means: 'Somebody forged the approvals of a request in Redis.', do: findWriter },
  'already-sent': { means: 'Somebody put a request in Redis back to a state from before it was sent.', do: findWriter },
  'already-ended': { means: 'Somebody put a request in Redis back to a state from before it ended.', do: findWriter },
  'unknown-key': {
    means: 'A request was signed with a key that one process, on the host in the notice, does not have.',
    do: 'Give all processes the same STATE_KEY.',
  },
  'approval-needed-now': { means: 'The policy now asks for an approval of a request that needed none.', do: 'It must be requested again.' },
  'rule-gone': { means: 'No rule of the policy covers an approved request anymore.', do: 'It must be requested again.' },
  'end-not-allowed': { means: 'The policy no longer allows the end of an approved key.', do: 'It must be requested again.' },
  'approved-too-long-ago': {
    means: 'A request was approved, but could not be sent within 30 minutes, for example during an outage.',
    do: 'It must be requested again.',
  },
  'request-lost': { means: 'The record of one open request is gone from Redis.', do: 'Check on the account whether it was carried out.' },
  'record-unreadable': {
    means: 'The record of an open request in Redis is damaged: its fields are not what Lockkeeper writes.',
    do: 'Delete the record with the command in the notice.',
  },
  'redis-data-lost': {
    means: 'Redis lost all data: all requests, approvals and tracked changes are gone.',
    do: 'Find out what happened to Redis.',
  },
  'redis-data-new': { means: 'Redis has no data for this REDIS_PREFIX.', do: 'This is normal on a first start and with a new prefix.' },
  'redis-set-back': {
    means: 'Redis has an older state than before: a backup was restored, or a replica that lagged behind took over.',
    do: 'Before anybody approves an open request, check on the account whether it was already done.',
  },
  'assignments-refused': {
    means:
      'Somebody changed or removed the list in Redis that says on which server each Elastic IP was last seen, or put back an older one.',
    do: 'Find out who can write to Redis, and change its password, unless it lost its data or went back to an older state.',
  },
  'outside-not-trusted': {
    means: "The record in Redis from which Lockkeeper reports changes outside isn't one that it wrote.",
    do: 'Find out who can write to Redis, and change its password.',
  },
  'freeze-not-trusted': {
    means: 'The record of freezes in Redis was gone, older than one that was read before, or not one that Lockkeeper wrote.',
    do: 'Find out who can write to Redis, and change its password, unless it lost its data or went back to an older state.',
  },
  'key-end-overdue': {
    means: 'A key should have ended an hour ago, and the account still lists it.',
    do: "Read the errors of the account API in the log, or delete the key in the account's dashboard.",
  },
  'key-end-untrusted': {
    means: "Records of when API keys end were changed in Redis, or signed with a STATE_KEY that Lockkeeper doesn't have.",
    do: 'If STATE_KEY was replaced without the old key, set both.',
  },
  'audit-damaged': {
    means: 'Somebody damaged entries of the audit that are older than 400 days: the notice names the first one.',
    do: 'Run npm run audit:verify with the audit lines that you collected, find out who can write to Redis, and change its password.',
  },
  'redis-unsafe': {
    means: 'Redis evicts keys, does not write to disk, or is too old: the notice says which.',
    do: 'Correct the setting at once, with CONFIG SET and in the file: maxmemory-policy noeviction, appendonly yes.',
  },
  'alerts-unread': {
    means: 'Lockkeeper refused alerts, or the sender cut them off, so they were not read.',
    do: 'Check the sender for alerts that fire now.',
  },
  'alerts-unposted': {
    means: 'Slack does not take messages about alerts in a channel of the policy.',
    do: 'Invite Lockkeeper to it, or correct channel in the section alerts of POLICY_FILE.',
  },
  // Only in lines of the log.
  'account-api-error': {
    means: 'A call to the account API failed or was refused.',
    do: "If it answers 5xx or nothing, check the provider's status page.",
  },
  'sender-missing': {
    means: 'A message is owed that this version cannot send.',
    do: 'Run one version of Lockkeeper. A message that no version sends is dropped by itself a day after it was owed.',
  },
  'alerts-failed': {
    means: 'An alert could not be handled, usually because Redis does not respond.',
    do: 'If Redis works, report the line with its stack.',
  },
  'alerts-port-refused': {
    means: 'Deliveries to the alerts port were refused.',
    do: 'Correct the cause that the line names at the sender.',
  },
  'answer-failed': {
    means: 'Something failed after a person got their answer, for example the update of a message or of the Home tab.',
    do: "If it lasts, check Slack's status page.",
  },
  'audit-failed': {
    means: 'An audit note could not be written or chained, usually because Redis does not respond.',
    do: 'If Redis works, run npm run audit:verify.',
  },
  'check-failed': { means: 'A check of /status fails: check and problem say which one and why.', do: 'Bring that service back.' },
  'configuration-warning': { means: 'The configuration is valid, but probably not what you meant.', do: 'Correct it and restart.' },
  defect: { means: 'An unexpected error ended the process.', do: 'Report the line with its stack.' },
  'dependency-away': { means: 'At the start, Redis or Slack does not answer, or Redis refuses writes.', do: 'Bring the service back.' },
  'error-shown': {
    means: 'A person saw an error that they did not cause.',
    do: 'If error says that Redis, Slack or the account API does not respond, bring it back. Otherwise report a defect with its stack.',
  },
  'job-failed': { means: 'Work in the background failed and is tried again.', do: 'Look at error.' },
  'list-items-left-out': {
    means: 'The account API returned items in a form that it does not document.',
    do: 'Update Lockkeeper, or report the operation.',
  },
  'machines-port-refused': {
    means: 'Calls to the port of machines were refused.',
    do: 'Give the machine its token, or find out who calls.',
  },
  'operators-not-notified': {
    means: 'Slack refused a notice in OPS_CHANNEL; problem has its code.',
    do: 'Invite Lockkeeper there, or correct OPS_CHANNEL and restart.',
  },
  'operators-unreachable': {
    means: "Notices can't be posted in OPS_CHANNEL: Lockkeeper is not in that channel, the channel is archived, or no such channel exists.",
    do: 'Type /invite @Lockkeeper there, unarchive the channel, or correct OPS_CHANNEL and restart.',
  },
  'page-failed': { means: 'A page of the operations port failed; path names it.', do: 'Report the line.' },
  'payload-not-handled': {
    means: 'The Slack app has an event, a shortcut or a workflow step that Lockkeeper does not know',
    do: "If you do not need it, remove it from the app's settings.",
  },
  'payload-unreadable': {
    means: 'A Slack payload lacks members that Lockkeeper needs: see kind and members.',
    do: 'If people have problems, update Lockkeeper, or report both values.',
  },
  'public-port-refused': { means: 'Requests to the public port were refused.', do: 'If people get answers, do nothing.' },
  'queue-failed': {
    means: 'The job queue failed, usually because Redis does not respond.',
    do: 'If Redis works, check the rights of its user',
  },
  'reads-share-spent': {
    means: 'userId has spent the share of one person, reads a minute, and more reads of theirs wait.',
    do: 'If it lasts, ask them what they need.',
  },
  'redis-not-responding': { means: 'Redis does not answer; problem is the error of the connection.', do: 'Bring it back.' },
  'signing-keys-differ': {
    means: 'At the start: the process that started last with this REDIS_PREFIX signs with another key.',
    do: 'Give all processes the same STATE_KEY, or each installation its own REDIS_PREFIX.',
  },
  'slack-library': {
    means: "A line from Slack's libraries, usually about a Socket Mode connection, which they reopen by themselves.",
    do: 'If people get no answers, restart.',
  },
  'slack-listener-failed': {
    means: 'A command, click or form failed before its listener could answer.',
    do: 'Report the line with its stack.',
  },
  'slack-token-rejected': {
    means: 'Slack no longer takes SLACK_BOT_TOKEN; problem has its code.',
    do: 'Install the app again at api.slack.com/apps, copy the Bot User OAuth Token under OAuth & Permissions, set it, and restart all processes.',
  },
} satisfies Record<string, Meaning>
export type ErrorCode = keyof typeof errors

/** The paragraph about a code, on the pages of the repository. */
export function pageOf(code: ErrorCode): string {
  return `https://github.com/lockkeeper-org/lockkeeper/blob/main/docs/alerts-and-errors.md#${code}`
}

/** What a person may not do, wherever they press it. */
const ofRights = {
  guest: 'they are a guest',
  bot: 'they are a bot',
  deactivated: 'their account is deactivated',
  'other-workspace': 'they are from another workspace',
  'person-unknown': "Slack didn't confirm who they are",
  'shared-channel': 'the channel is shared with another organization (Slack Connect)',
  'channel-unknown': "Slack didn't confirm whether the channel is shared with another organization",
  'direct-message': 'it was in a direct message',
  'not-in-channel': "Lockkeeper isn't in the channel",
  'foreign-channel': "Slack doesn't list them as a member of the channel",
  'group-unknown': "Slack didn't return the members of the user group",
  'own-request': 'they requested it themselves',
  'rule-gone': 'no policy rule covers this request anymore',
  'no-rule': 'no policy rule allows it in the channel',
  'project-unknown': "couldn't read the project, and the rule depends on it",
  'no-emergency': 'the rule allows no emergency approval',
  'not-named-by-rule': "the rule doesn't name them",
  'alerts-need-approval': 'the rule needs no approval, and what machines request always needs one',
  'keys-need-people': "machines can't request changes of API keys",
  'not-a-requester': "they aren't a requester under the rule",
  'not-an-approver': "they aren't an approver of this request",
  'not-a-freezer': "the policy doesn't let them freeze changes or lift a freeze",
  'not-involved': "they aren't its requester or an approver",
  'only-involved-may-withdraw': "they aren't its requester or an approver",
  'too-few-approvers': 'the rule has too few approvers besides them',
  'only-requester-may-issue': "they aren't its requester",
  'only-requester-may-withdraw': "they aren't its requester",
  'only-requester-may-break-glass': "they aren't its requester",
}

/** Why a button or a form of a request, or of a freeze, does nothing. */
const ofDecisions = {
  'stale-card': "the button wasn't on the request message",
  'foreign-button': 'the button was made for another request, or it was changed',
  'unknown-request': 'Lockkeeper no longer has the request',
  'record-changed': 'its record no longer matches what was requested',
  'unknown-key': "it was signed with a key that Lockkeeper doesn't have",
  'other-version': 'another version of Lockkeeper made the request',
  'too-late': 'the request was already decided, sent or ended',
  'not-approved-yet': 'the request still needed approval',
  'approved-before': 'they had approved it already',
  'end-not-allowed': 'the rule no longer allows the end of the key',
  'on-hold': 'its start, a window or a freeze holds it',
  'taken-over': 'a newer request changes the same resource',
  'changed-since': 'a later request changed it again',
  'not-from-here': "this can't be requested from a button",
  'on-home': "the Home tab can't show a token",
  'in-progress': 'their first press was still being carried out',
  'account-changed': 'the account changed since the request',
  'account-away': "the account API didn't answer",
  'account-limit': "the account's limit of calls a minute was used up",
  'freeze-over': 'the freeze was over, or another one replaced it',
  'freeze-unreadable': "the record of freezes was signed with a key that Lockkeeper doesn't have",
}

/** Why a command or a form is not carried out: what was typed, or what stands in its way. */
const ofRequests = {
  'wrong-usage': "the words weren't understood",
  'unknown-name': 'nothing has that name',
  'several-named': 'several things have that name',
  'not-an-id': "it isn't a valid id",
  'name-not-possible': "a key can't have that name",
  'token-typed': 'it looks like a token',
  'start-not-possible': "it can't start at that time",
  'end-not-possible': "a key can't end at that time",
  'reason-required': 'the rule requires a reason, or another one',
  'reason-too-long': 'the reason is too long',
  'does-not-fit': "it doesn't fit in one message",
  'not-posted': "Slack didn't take the request message",
  'not-needed': 'what led to it had ended',
  locked: 'another request changes the same thing',
  'too-many': 'they have, or made, too many',
  'idempotency-key-used': 'the idempotency key was used for something else',
  'addresses-unseen': 'the server also has addresses that the machine may not see',
  'list-too-long': 'the list is too long for a machine',
  'account-slow': 'the account API takes long',
  'feature-missing': "the account doesn't offer it to this team",
  'out-of-date': 'the button, form or shortcut is out of date',
  'form-not-opened': "Slack didn't open the form in time",
  'freeze-is-on': 'a freeze is on',
}

/**
 * Why something that a person or a machine wanted was not done, as others read it: the answer at the time speaks to that person, and says what to
 * do. The log, the audit and the answers to machines have these codes, or the code of a check of the change itself. The page has a table of them.
 */
export const refusalCodes = { ...ofRights, ...ofDecisions, ...ofRequests }
export type RefusalCode = keyof typeof refusalCodes
