import type { AuditEntry } from '../../audit/entry.ts'
import type { FoundEntry } from '../../audit/find-entries.ts'
import { grantWords } from '../../requests/messages/grants.ts'
import { ruleWords } from '../../requests/messages/rule-words.ts'
import type { Details } from '../../slack/lists/details.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mention, mrkdwn, quotation } from '../../slack/text/text.ts'
import { wordsOfAct } from './words/act-words.ts'
import { causesInWords, subjectOf, type WordsOfChanges } from './words/entry-words.ts'
import { refusedSentence } from './words/refused.ts'
import { whyUnverified } from './words/unverified.ts'

type Step = Details['facts'][number]

interface StepParts {
  /** The subject of the request. An entry with another subject names it. */
  subject: string
  catalog: WordsOfChanges
}

/** Shows an entry as a step of its request. */
export function stepOf(entry: FoundEntry, { subject, catalog }: StepParts): Step {
  const why = whyUnverified(entry)
  const sentence = entry.act === 'refused' ? refusedSentence(entry, subject, catalog) : whoAndWhen(entry)
  const own = subjectOf(entry, catalog)
  const about = own === undefined || own === subject ? [] : [mrkdwn`about ${quotation(own)}`]
  return {
    label: `${why === undefined ? '' : `:warning: *Unverified* (${why}): `}${wordsOfAct(entry)}`,
    words: joinMrkdwn([sentence, ...about, ...reasonsIn(entry, catalog)], '  ·  '),
  }
}

function whoAndWhen({ by, at }: AuditEntry): Mrkdwn {
  return by === undefined ? dateTime(at) : mrkdwn`${mention(by)}, ${dateTime(at)}`
}

/** Lists the rule, the reason, the account's answer and the causes. */
function reasonsIn(entry: AuditEntry, catalog: WordsOfChanges): Mrkdwn[] {
  const { act, reason, text } = entry
  return [
    ...allowedBy(entry),
    ...(reason === undefined ? [] : [mrkdwn`reason: ${code(reason)}`]),
    ...answerWords(entry),
    ...(act === 'refused' ? [] : [...causesInWords(entry, catalog), ...(text ? [text] : [])].map((words) => mrkdwn`${words}`)),
  ]
}

/** Shows the account's answer (`account API: move accepted (202)`), and the id of a new key. */
function answerWords({ answer, resourceId }: AuditEntry): Mrkdwn[] {
  const words = answer ? [mrkdwn`account API: ${outcomeOf(answer)}`] : []
  return [...words, ...(resourceId === undefined ? [] : [mrkdwn`${resourceId}, shown to the requester`])]
}

function outcomeOf({ operation, status, problem, codes = [] }: NonNullable<AuditEntry['answer']>): string {
  // Operations are called `elasticIps.move`.
  const write = operation.split('.').at(-1) ?? operation
  if (status === undefined) return `no answer to the ${write}${problem === undefined ? '' : ` (${problem})`}`
  return `${write} ${status < 400 ? 'accepted' : 'refused'} (${[status, ...codes].join(', ')})`
}

/** Says which rule allowed an act: `rule “production”: @oncall`. Returns an empty list if the entry has no rule. */
function allowedBy({ rule, via }: AuditEntry): Mrkdwn[] {
  if (rule === undefined) return via === undefined ? [] : [mrkdwn`as ${grantWords({ via })}`]
  return [via === undefined ? ruleWords(rule) : grantWords({ rule, via })]
}
