import type { KnownBlock } from '@slack/web-api'
import { steady } from './documents.ts'

/** Prints a message as people see it, one or more lines per block, and below it the text for notifications and screen readers. */
export function readable({ text, blocks }: { text: string; blocks: KnownBlock[] }): string {
  return `${readableBlocks(blocks)}\n--- in words ---\n${text}`
}

export function readableBlocks(blocks: KnownBlock[]): string {
  return blocks.map(readableBlock).join('\n')
}

/** Counts the words of a request message above its buttons, without the reasons that people wrote. */
export function wordsAbove(blocks: KnownBlock[]): number {
  const end = blocks.findIndex(({ type }) => type === 'actions')
  const above = blocks.slice(0, end < 0 ? blocks.length : end).filter(({ type }) => type !== 'rich_text')
  const shown = steady(readableBlocks(above)).replaceAll(/<[^>|]*\|([^>]*)>/g, '$1')
  return shown.match(/[\p{L}\p{N}][^\s·|→]*/gu)?.length ?? 0
}

function readableBlock(block: KnownBlock): string {
  switch (block.type) {
    case 'header':
      return `# ${block.text.text}`
    case 'section':
      return [
        block.text?.text,
        ...(block.fields ?? []).map(({ text }) => `| ${text.replaceAll('\n', ' / ')}`),
        block.accessory?.type === 'button' && readableButton(block.accessory),
      ]
        .filter(Boolean)
        .join('\n')
    case 'context':
      return block.elements.map((element) => `(${'text' in element ? element.text : element.type})`).join('\n')
    case 'actions':
      return block.elements.map((element) => (element.type === 'button' ? readableButton(element) : element.type)).join(' ')
    case 'rich_text':
      return block.elements.map(({ elements }) => (elements as object[]).map(readableElement).join('')).join('\n')
    case 'divider':
      return '---'
    default:
      return JSON.stringify(block)
  }
}

/** Marks links as `[address]` or `[text: address]`. */
function readableElement(element: object): string {
  if ('url' in element) return `[${'text' in element ? `${element.text}: ` : ''}${element.url}]`
  return 'text' in element ? String(element.text) : JSON.stringify(element)
}

function readableButton({ text, style, confirm }: { text: { text: string }; style?: string; confirm?: object }): string {
  return `[${text.text}${style ? `, ${style}` : ''}${confirm ? ', asks once more' : ''}]`
}
