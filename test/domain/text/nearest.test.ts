import { describe, expect, it } from 'vitest'
import { countMistakes, nearestNames, nearestWord, suggestNames } from '../../../src/domain/text.ts'

describe('the word that was probably meant', () => {
  it.each([
    ['chanels', 'channels'],
    ['CHANNELS', 'channels'],
    ['aprove', 'approve'],
    ['requset', 'request'],
    ['colour', undefined],
  ])('is found with at most a third of its letters mistyped: %s', (typed, meant) => {
    expect(nearestWord(['channels', 'approve', 'request'], typed)).toBe(meant)
  })

  it('is none if nothing is known', () => {
    expect(nearestWord([], 'name')).toBeUndefined()
  })

  it('is the first of several that are equally near', () => {
    expect(nearestWord(['kinds', 'minds'], 'finds')).toBe('kinds')
  })
})

describe('the names that were probably meant', () => {
  const mistakes: Record<string, number> = { move: 2, moves: 1, name: 1, rename: 3 }

  it('are all with the fewest mistakes, in the given order', () => {
    expect(nearestNames(Object.keys(mistakes), { mistakesIn: (name) => mistakes[name] ?? 0, mostMistakes: () => 2 })).toEqual([
      'moves',
      'name',
    ])
  })

  it('never include one with more mistakes than it may have', () => {
    expect(nearestNames(Object.keys(mistakes), { mistakesIn: (name) => mistakes[name] ?? 0, mostMistakes: () => 0 })).toEqual([])
  })
})

it('counts the mistakes in no more than 100 letters of a text', () => {
  expect(countMistakes('x'.repeat(1_000_000), 'name')).toBe(100)
})

describe('the suggested names', () => {
  const keys = ['lockkeeper', 'terraform', 'grafana read', 'laptop of ada', 'laptop of ben', 'laptop 10 of chiara', 'laptop 9 of chiara']

  it.each([
    ['terra', ['terraform']],
    ['LAPTOP OF', ['laptop of ada', 'laptop of ben']],
    ['laptop', ['laptop 9 of chiara', 'laptop 10 of chiara', 'laptop of ada']],
    ['ada', ['laptop of ada']],
    ['terrafrom', ['terraform']],
    ['TERRAFROM', ['terraform']],
    ['weather', []],
    [' ', []],
  ])('begin with what was typed, have a word that does, or are similar: %j', (typed, names) => {
    expect(suggestNames(keys, typed)).toEqual(names)
  })

  it('are named once, although several things can have the same name', () => {
    expect(suggestNames(['search-1', 'search-1'], 'search')).toEqual(['search-1'])
  })

  it('are compared by the first 100 letters of what was typed, because the comparison takes time with the square of the length', () => {
    expect(countMistakes('y'.repeat(3_000), 'y'.repeat(100))).toBe(0)
  })
})
