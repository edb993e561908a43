import type { KnownBlock } from '@slack/web-api'
import { actions, button, context, wholeSection } from '../../slack/blocks/blocks.ts'
import { limitBlocks, message } from '../../slack/blocks/message.ts'
import { externalSelect } from '../../slack/blocks/selects.ts'
import type { TableMessage } from '../../slack/lists/answerable.ts'
import { dataTable } from '../../slack/lists/data-table.ts'
import { mostCharacters } from '../../slack/text/characters.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { CheckResult } from './checks/result.ts'
import { heading, testIds, tests } from './messages.ts'

const order = { wrong: 0, unknown: 1, ok: 2 } as const
const signs = { wrong: ':x:', unknown: ':grey_question:', ok: ':white_check_mark:' } as const

// Five blocks of the message are reserved for the tests that people can run.
const limits = { most: 45, characters: mostCharacters - 400 } as const

/**
 * Lists what is wrong first. Below the list are a table, which the person may see or not, and a button and a picker, which prove that clicks
 * and option loads arrive.
 */
export function report(bot: string, results: CheckResult[]): TableMessage {
  const wrong = results.filter((result) => result.is === 'wrong').length
  const unsure = results.filter((result) => result.is === 'unknown').length
  const title = heading({ wrong, unsure, all: results.length })
  const about = mrkdwn`Lockkeeper ${bot}`
  const lines = results.toSorted((a, b) => order[a.is] - order[b.is]).map(line)
  const content = limitBlocks([...wholeSection(title), ...context([about]), ...lines.flatMap(wholeSection)], limits)
  const reportWith = (words: Mrkdwn, blocks: KnownBlock[]) =>
    message({ text: joinMrkdwn([title, about, ...lines, words], '\n'), blocks: [...content, ...blocks, ...testElements()] })
  const { tableQuestion, tableRefused } = tests
  return { table: reportWith(tableQuestion, tableTest()), instead: reportWith(tableRefused, wholeSection(tableRefused)), tries: true }
}

function tableTest(): KnownBlock[] {
  const table = dataTable(tests.table.caption, tests.table)
  const answers = [
    button({ text: tests.tableSeen, actionId: testIds.tableSeen, value: 'test' }),
    button({ text: tests.tableUnseen, actionId: testIds.tableUnseen, value: 'test' }),
  ]
  return [...(table ? [table] : []), ...wholeSection(tests.tableQuestion), ...actions(answers)]
}

function line({ is, what, words, fix }: CheckResult): Mrkdwn {
  const toDo = fix ? mrkdwn` ${is === 'wrong' ? mrkdwn`*Fix:* ` : ''}${fix}` : ''
  return mrkdwn`${signs[is]} *${what}:* ${words}${toDo}`
}

function testElements(): KnownBlock[] {
  const picker: KnownBlock = {
    type: 'actions',
    elements: [externalSelect({ actionId: testIds.picker, placeholder: tests.picker })],
  }
  return [...actions([button({ text: tests.button, actionId: testIds.button, value: 'test' })]), picker]
}
