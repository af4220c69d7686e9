/** Owns the program that the scripted model writes: the body of an async function. */
export const program = `
const { entries } = await tools.list({ path: '.' })
const names: string[] = entries.map((entry) => entry.name).filter((name) => name.startsWith('invoice-'))
const texts = await Promise.all(names.map(async (path) => (await tools.read({ path })).lines as string[]))
let total = 0
const overdue: string[] = []
texts.forEach(([amount, status], i) => {
  total += Number(amount.split(': ')[1])
  if (status === 'status: overdue') overdue.push(names[i])
})
for (const path of overdue) {
  await tools.edit({ path, edits: [{ oldText: 'status: overdue', newText: 'status: reminded' }] })
}
let refused = 'nothing'
try {
  await tools.write({ path: '../summary.txt', content: String(total) })
} catch (error) {
  refused = error.code + ': ' + error.reason
}
return { total, reminded: overdue, refused }
`
