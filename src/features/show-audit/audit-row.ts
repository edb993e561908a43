import { option } from '../../slack/blocks/option.ts'
import { type Columns, itemRows, type Rows } from '../../slack/lists/columns.ts'
import { dateTime, type Mrkdwn, ownWords, toPlainText } from '../../slack/text/text.ts'

/** A row of the list: a request, an entry without one, or an event of the account. */
export interface AuditRow {
  /** In ms since 1970. */
  at: number | undefined
  /** The request whose steps can be shown. */
  requestId?: string | undefined
  /** Links the request message, as long as that is known. */
  what: Mrkdwn
  /** What the picker calls it. */
  name?: string
  outcome: string | undefined
  by: Mrkdwn | undefined
  decision?: Mrkdwn | undefined
  notes: Mrkdwn | undefined
  /** The emoji in front of the text. */
  mark: string
}

const columns: Columns<AuditRow> = [
  { header: 'Change', cell: ({ what }) => what },
  { header: 'Outcome', cell: ({ outcome }) => outcome },
  { header: 'When', cell: ({ at }) => (at === undefined ? undefined : dateTime(at)) },
  { header: 'By', cell: ({ by }) => by, before: 'by ', line: 2 },
  { header: 'Decision', cell: ({ decision }) => decision, line: 2 },
  { header: 'Notes', cell: ({ notes }) => notes, line: 3 },
]

/** Makes the rows as text and as a table, newest first, with a picker for the steps of the requests among them. */
export function listedRows(rows: AuditRow[]): Rows {
  const sorted = rows.toSorted((a, b) => (b.at ?? 0) - (a.at ?? 0))
  const listed = itemRows(sorted, { columns, mark: ({ mark }) => ownWords(mark) })
  return { ...listed, choices: { of: 'audited-request', placeholder: 'Steps of a request', options: sorted.map(choiceOf) } }
}

/** Whether this can be the id of a request. A made-up entry can have any id. */
export function isRequestId(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id)
}

/** Requests can have the same name, so the outcome and the time, in UTC, are below it. */
function choiceOf({ requestId, name, outcome, at }: AuditRow) {
  if (requestId === undefined || !isRequestId(requestId)) return undefined
  const when = at === undefined ? [] : [toPlainText(dateTime(at))]
  const description = [...(outcome === undefined ? [] : [outcome]), ...when].join(' · ')
  return option({ text: `${requestId.slice(0, 8)} ${name ?? ''}`, value: requestId, description })
}
