import { expect, test } from 'vitest'
import { type Change, projectOf } from '../../../src/domain/change.ts'
import type { Project } from '../../../src/domain/policy.ts'

interface Facts {
  project: Project
  items: Project[]
}

const one = { project: (facts) => facts as Project } as Change
const many = {
  project: ({ project }) => project,
  items: { change: one, of: ({ items }) => items.map((facts, index) => ({ id: `eip_${index}`, input: {}, facts })) },
} as Change<Facts, Facts>

const storefront = { id: 'proj_1oNqx62cx6bn0', name: 'Storefront' }
const billing = { id: 'proj_2RBis9AK23gEc', name: 'Billing' }

test('a change of one resource has its project', () => {
  expect(projectOf(one, storefront)).toBe(storefront)
  expect(projectOf(one, 'none')).toBe('none')
})

test('a change of several has the project that all of them have', () => {
  expect(projectOf(many, { project: storefront, items: [storefront, { id: storefront.id }] })).toBe(storefront)
})

test.each<[string, Project[]]>([
  ['another project', [storefront, billing]],
  ['no known project', [storefront, 'unknown']],
  ['a project that is named like it', [{ id: billing.id, name: storefront.name }]],
])('it is unknown if one of them has %s', (_, items) => {
  expect(projectOf(many, { project: storefront, items })).toBe('unknown')
})
