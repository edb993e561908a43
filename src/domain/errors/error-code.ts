/**
 * Every error that the log or the operators' channel can show. Lines of the log have it as `code`. docs/alerts-and-errors.md has a paragraph
 * for each, and a test compares both.
 */
export const errorCodes = [
  // Notices to the operators' channel, which the log has, too.
  'api-key-rejected',
  'report-undeliverable',
  'record-not-genuine',
  'signing-key-unknown',
  'policy-changed',
  'approved-too-long-ago',
  'request-lost',
  'redis-data-lost',
  'redis-data-new',
  'redis-set-back',
  'assignments-refused',
  'redis-unsafe',
  'write-doubled',
  'alerts-unread',
  'alerts-unposted',
  // Only in lines of the log.
  'account-api-error',
  'alerts-failed',
  'alerts-port-refused',
  'answer-failed',
  'audit-failed',
  'check-failed',
  'configuration-warning',
  'defect',
  'dependency-away',
  'error-shown',
  'job-failed',
  'list-items-left-out',
  'operators-not-notified',
  'operators-unreachable',
  'page-failed',
  'payload-not-handled',
  'payload-unreadable',
  'public-port-refused',
  'queue-failed',
  'redis-not-responding',
  'slack-library',
  'slack-listener-failed',
  'slack-token-rejected',
  'traces-not-sent',
  'variable-unused',
] as const
export type ErrorCode = (typeof errorCodes)[number]
