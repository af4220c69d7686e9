/** Owns classes whose private fields are put on objects that exist already: what nobody else can forge, read or inherit. */

/** What `super(on)` gives a class that extends it: the private fields of that class go on `on`, which is otherwise untouched. */
export const Onto = function (on: object) {
  return on
} as unknown as new (
  on: object,
) => object
