/* Elements. Whatever a program or a server says becomes a text node: nothing is made markup. */

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

export const by = (id) => document.getElementById(id);
