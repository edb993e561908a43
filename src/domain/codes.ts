/** What a code means, what follows from it if that isn't plain, and what to do. All are sentences for operators. */
export interface Meaning {
  means: string
  impact?: string
  do: string
}

const changePassword = 'Find who wrote to Redis, and change its password'
const findWriter = `${changePassword}. Run npm run audit:verify, and request it again.`
const again = 'Request it again.'
const report = 'Report the line.'

/**
 * What the log from `warn` on (as `code`) and the notices to operators can say. docs/errors.md is made from it. A code that is also in `refusalCodes`
 * means the same there.
 */
export const errors = {
  // Notices to the operators' channel, which the log has, too.
  'api-key-rejected': {
    means: 'The account API answers 401 (nothing is sent or tracked) or 403 (a right is missing).',
    do: 'Give the key the right, or set another INFRA_API_KEY and restart all processes.',
  },
  'no-worker': {
    means: 'No worker has run for 30 to 60 s.',
    impact: 'Nothing starts, and nothing is tracked.',
    do: 'Start a worker (ROLE=worker or all), or check its log for the reason.',
  },
  'report-undeliverable': {
    means: 'Slack refuses a report, in its channel and as a direct message.',
    do: 'Tell the requester how it ended (in the audit), and invite Lockkeeper to the channel.',
  },
  'record-changed': {
    means: 'Somebody changed the record of a request in Redis.',
    impact: 'It is not sent or tracked anymore: check its change on the account.',
    do: findWriter,
  },
  'approvals-not-genuine': { means: 'Somebody forged approvals in Redis. Nothing was sent.', do: findWriter },
  'already-sent': { means: 'Somebody reset a request to before it was sent. Nothing was sent.', do: findWriter },
  'already-ended': { means: 'Somebody reset a request to before it ended. Nothing was sent.', do: findWriter },
  'unknown-key': {
    means: 'This process lacks the key that signed a request. Normal for a few minutes while STATE_KEY is rotated.',
    do: 'Give all processes the same STATE_KEY.',
  },
  'approval-needed-now': { means: 'A request lacks approvals that the policy now asks for.', do: again },
  'rule-gone': { means: 'No rule of the policy covers an approved request anymore.', do: again },
  'end-not-allowed': { means: 'The policy no longer allows the end of an approved key.', do: again },
  'confirmation-needed-now': { means: 'The policy now asks for a passkey.', do: again },
  'confirmation-lost': {
    means: 'A passkey that approved a request was removed, or PUBLIC_URL changed.',
    do: again,
  },
  'passkeys-not-trusted': {
    means: 'The record of passkeys in Redis is gone, older or forged. Nobody can approve with one.',
    do: `${changePassword}. Then add passkeys again, and trust the first (docs/passkeys.md).`,
  },
  'approved-too-long-ago': { means: 'An approved request could not be sent within 30 minutes.', do: again },
  'request-lost': {
    means: 'The record of an open request is gone.',
    do: 'Check the account, and that Redis evicts nothing.',
  },
  'record-unreadable': {
    means: 'The record of an open request is damaged. Its resource stays locked.',
    do: 'Check the account, and delete the record with the command in the notice.',
  },
  'redis-data-lost': {
    means: 'Redis lost all data. All changes are frozen.',
    do: 'Restore a backup (docs/backup.md) or have people request again, then use the unfreeze command.',
  },
  'redis-data-new': {
    means: 'Redis has no data for this REDIS_PREFIX, as on a first start.',
    do: 'If it had data, do what redis-data-lost says.',
  },
  'redis-set-back': {
    means: 'Redis has an older state (backup, lagging replica). All changes are frozen.',
    do: 'Check on the account which open requests were done, run npm run audit:verify (docs/backup.md), then use the unfreeze command.',
  },
  'assignments-refused': {
    means: 'Somebody changed the list of where each Elastic IP was last seen.',
    impact: 'An evacuation can miss addresses of a dead server.',
    do: `${changePassword}, unless its data was lost or set back.`,
  },
  'outside-not-trusted': {
    means: "Lockkeeper didn't write the record of changes outside.",
    do: `${changePassword}. If STATE_KEY was replaced, set both keys.`,
  },
  'freeze-not-trusted': {
    means: 'The record of freezes was gone, older or forged.',
    impact: 'All changes are frozen.',
    do: `${changePassword}, unless its data was lost or set back. If STATE_KEY was rotated (not stolen), set both keys. Then use the unfreeze command.`,
  },
  'key-end-overdue': {
    means: 'A key still exists an hour after its end.',
    do: "Look for account-api-error, or delete the key in the account's dashboard.",
  },
  'key-end-untrusted': {
    means: "Records of ends of keys were changed, or signed with a lost STATE_KEY. These keys don't end by themselves.",
    do: 'If STATE_KEY was replaced, set both keys. Otherwise change the password of Redis. Revoke keys that nobody needs.',
  },
  'audit-damaged': {
    means: 'Audit entries older than 400 days are damaged.',
    do: `Run npm run audit:verify with the collected lines. ${changePassword}.`,
  },
  'redis-unsafe': {
    means: 'Redis evicts, does not persist, is too old, or refuses writes (OOM: memory, MISCONF: disk, NOREPLICAS).',
    impact: 'While it refuses writes, nothing works, and nothing is lost.',
    do: 'Correct it with CONFIG SET and in the file (maxmemory-policy noeviction, appendonly yes, maxmemory), free the disk, or bring the replicas back.',
  },
  'alerts-unread': {
    means: 'Alerts were refused, or cut off by the sender.',
    do: 'Check the sender for alerts that fire now.',
  },
  'alerts-unposted': {
    means: 'Slack refuses messages in a channel of alerts.',
    do: 'Invite Lockkeeper to it, or correct POLICY_FILE.',
  },
  // Only in lines of the log.
  'account-api-error': {
    means: 'The account API refused a call (4xx) or failed (5xx, no answer).',
    do: "Check the provider's status page.",
  },
  'sender-missing': {
    means: 'This version cannot send an owed message.',
    do: 'Run one version of Lockkeeper.',
  },
  'alerts-failed': {
    means: 'An alert could not be handled. Its sender sends it again.',
    do: 'If Redis works, report the line.',
  },
  'alerts-port-refused': { means: 'The alerts port refused deliveries.', do: 'Correct the problem at the sender.' },
  'answer-failed': {
    means: 'An answer was not sent, or something failed after it.',
    do: "If it lasts, check Slack's status page.",
  },
  'audit-failed': {
    means: 'A note of the audit could not be written.',
    do: 'If Redis works, run npm run audit:verify.',
  },
  'check-failed': { means: 'A check of /status fails.', do: 'Bring the service in check back up, as problem says.' },
  'configuration-warning': { means: 'The configuration is valid, but perhaps not what you meant.', do: 'Correct it and restart.' },
  defect: { means: 'An unexpected error ended the process. Nothing is lost.', do: `${report} If it recurs, go back a release.` },
  'dependency-away': { means: 'The start waits for Redis or Slack.', do: 'Bring the service back up.' },
  'error-shown': {
    means: "A person saw an error they didn't cause.",
    do: 'Bring back what error names, or report the line.',
  },
  'job-failed': {
    means: 'Work in the background failed and is tried again.',
    do: 'Look at error. NOPERM: correct the Redis user (docs/redis.md).',
  },
  'list-items-left-out': {
    means: 'The account API returned items of an undocumented form.',
    do: 'Update Lockkeeper, or report the operation.',
  },
  'machines-port-refused': {
    means: 'The port of machines refused calls.',
    do: 'Give the machine its token, or find out who calls.',
  },
  'operators-not-notified': {
    means: 'Slack refused a notice in OPS_CHANNEL; problem has its code.',
    do: 'Invite Lockkeeper there, or correct OPS_CHANNEL and restart.',
  },
  'operators-unreachable': {
    means: "Lockkeeper isn't in OPS_CHANNEL, or that is archived or gone.",
    do: 'Invite Lockkeeper there, or correct OPS_CHANNEL and restart.',
  },
  'page-failed': { means: 'A page of the operations port failed; path names it.', do: 'Report the line.' },
  'payload-not-handled': {
    means: 'The Slack app has an unknown event or shortcut.',
    do: "Remove it from the app's settings.",
  },
  'payload-unreadable': {
    means: 'A Slack payload lacks members that Lockkeeper needs.',
    do: 'Update Lockkeeper, or report kind and members.',
  },
  'public-port-refused': {
    means: 'The public port refused requests; problem says why.',
    do: 'If people get no answers, correct SLACK_SIGNING_SECRET or the clock.',
  },
  'queue-failed': {
    means: 'The job queue failed.',
    do: 'If Redis works, check the rights of its user (docs/redis.md).',
  },
  'reads-share-spent': {
    means: 'The person in userId has spent their reads.',
    do: 'If it lasts, ask them what they need.',
  },
  'redis-not-responding': { means: 'Redis does not answer; problem is the error of the connection.', do: 'Bring it back.' },
  'signing-keys-differ': {
    means: 'The last process that started signs with another key.',
    do: 'Give all processes the same STATE_KEY, or each installation its own REDIS_PREFIX.',
  },
  'slack-library': {
    means: "Slack's libraries had an error. They reopen a connection of Socket Mode.",
    do: 'If people get no answers, restart.',
  },
  'slack-listener-failed': { means: 'A command, click or form failed before its listener could answer.', do: report },
  'slack-token-rejected': {
    means: 'Slack rejects SLACK_BOT_TOKEN, so nobody gets answers; problem has its code.',
    do: 'Install the app again, set its Bot User OAuth Token, and restart all processes.',
  },
} satisfies Record<string, Meaning>
export type ErrorCode = keyof typeof errors

/** The address of the paragraph about a code. */
export function pageOf(code: ErrorCode, docsUrl: URL): string {
  return `${docsUrl.href.replace(/\/$/, '')}/errors.md#${code}`
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
  'confirmation-required': 'they had to confirm it',
  'not-confirmed': "the passkey couldn't be verified",
  'no-passkey': 'they have no passkey',
  'too-many-passkeys': 'they have five passkeys',
  'end-not-allowed': 'the rule no longer allows the end of the key',
  'on-hold': 'its start, a window or a freeze holds it',
  'taken-over': 'another request for the same is open',
  'changed-since': 'a later request changed it again',
  'not-from-here': "this can't be requested from a button",
  'on-home': "the Home tab can't show a token",
  'in-progress': 'their first click was still being processed',
  'account-changed': 'the account changed since the request',
  'account-away': "the account API didn't answer",
  'account-limit': "the account's limit of calls a minute was used up",
  'freeze-over': 'the freeze was over, or another was on',
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
 * do. The log, the audit and the answers to machines have these codes, or the code of a check of the change itself. docs/reference.md has a table of them.
 */
export const refusalCodes = { ...ofRights, ...ofDecisions, ...ofRequests }
export type RefusalCode = keyof typeof refusalCodes
