import type { List } from '../src/domain/list.ts'

export const wholeList = <Item>(items: Item[]): List<Item> => ({ items, isWhole: true })
