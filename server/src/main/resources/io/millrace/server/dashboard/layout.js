// The positions of a graph that has a direction: layers from left to right.

const WIDTH = 190;
const HEIGHT = 48;

/** With more places for edges, the picture is too dense to follow one, and none is given. */
const MAX_PASSES = 5000;

/**
 * The position of each node. A node is one layer behind the last of its parents; within a layer, nodes are near the
 * middle of their neighbours, which leaves few crossings. An edge that passes layers has a place of its own in each of
 * them, so that it does not run through other nodes. Takes time in proportion to nodes and edges.
 *
 * @param nodes each `{id, parents}`, with parents among them
 * @returns `positions`, a Map from id to `{x, y}`, and `bends`, a Map from `PARENT-ID` to the places of that edge
 */
export function layered(nodes) {
  const layer = layers(nodes);
  const { all, passes } = withPasses(nodes, layer);
  const places = placed(all, layer);
  return {
    positions: new Map(nodes.map(({ id }) => [id, places.get(id)])),
    bends: new Map([...passes].map(([edge, ids]) => [edge, ids.map(id => places.get(id))])),
  };
}

/** The layer of each node, in an order in which parents come first. */
function layers(nodes) {
  const children = new Map(nodes.map(node => [node.id, []]));
  const missing = new Map(nodes.map(node => [node.id, node.parents.length]));
  for (const node of nodes) node.parents.forEach(parent => children.get(parent).push(node.id));

  const layer = new Map();
  const open = nodes.filter(node => node.parents.length === 0).map(node => node.id);
  open.forEach(id => layer.set(id, 0));
  for (let next = 0; next < open.length; next++) {
    for (const child of children.get(open[next])) {
      layer.set(child, Math.max(layer.get(child) ?? 0, layer.get(open[next]) + 1));
      missing.set(child, missing.get(child) - 1);
      if (missing.get(child) === 0) open.push(child);
    }
  }

  return new Map(open.map(id => [id, layer.get(id)]));
}

/** The nodes and, between a node and a parent that is not in the layer before, one for each layer that their edge passes. */
function withPasses(nodes, layer) {
  const long = (id, parent) => layer.get(id) - layer.get(parent) - 1;
  const passes = new Map();
  let number = 0;
  for (const { id, parents } of nodes) parents.forEach(parent => (number += long(id, parent)));
  if (number > MAX_PASSES) return { all: nodes, passes };
  const added = [];
  const all = nodes.map(({ id, parents }) => ({
    id,
    parents: parents.map(parent => {
      const ids = [];
      let last = parent;
      for (let step = 1; step <= long(id, parent); step++) {
        const pass = `${parent}-${id}-${step}`;
        layer.set(pass, layer.get(parent) + step);
        added.push({ id: pass, parents: [last] });
        ids.push(pass);
        last = pass;
      }
      if (ids.length) passes.set(`${parent}-${id}`, ids);
      return last;
    }),
  }));
  return { all: [...all, ...added], passes };
}

/** The position of each node by its layer. */
function placed(nodes, layer) {
  const children = new Map(nodes.map(node => [node.id, []]));
  for (const node of nodes) node.parents.forEach(parent => children.get(parent).push(node.id));
  const layers = [];
  for (const [id, at] of layer) (layers[at] ??= []).push(id);
  const parents = new Map(nodes.map(node => [node.id, node.parents]));
  const place = new Map();
  const number = ids => ids.forEach((id, index) => place.set(id, index - (ids.length - 1) / 2));
  layers.forEach(number);
  const middle = neighbours => neighbours.reduce((sum, id) => sum + place.get(id), 0) / neighbours.length;
  const sort = (ids, neighbours) => {
    const wanted = new Map(ids.map(id => [id, neighbours.get(id).length ? middle(neighbours.get(id)) : place.get(id)]));
    ids.sort((one, other) => wanted.get(one) - wanted.get(other));
    number(ids);
  };
  for (let round = 0; round < 4; round++) {
    layers.slice(1).forEach(ids => sort(ids, parents));
    layers.slice(0, -1).reverse().forEach(ids => sort(ids, children));
  }
  return spread(layers, place);
}

// Very long layers are broken into several columns, so that the picture keeps a shape that can be read.
function spread(layers, place) {
  const positions = new Map();
  const longest = Math.max(1, ...layers.map(ids => ids.length));
  const most = Math.max(40, Math.ceil(Math.sqrt(longest) * 6));
  let column = 0;
  for (const ids of layers) {
    const columns = Math.ceil(ids.length / most);
    if (columns <= 1) {
      ids.forEach(id => positions.set(id, { x: column * WIDTH, y: place.get(id) * HEIGHT }));
    } else {
      const rows = Math.ceil(ids.length / columns);
      ids.forEach((id, index) =>
        positions.set(id, {
          x: (column + Math.floor(index / rows)) * WIDTH,
          y: ((index % rows) - (rows - 1) / 2) * HEIGHT,
        }));
    }
    column += Math.max(1, columns);
  }
  return positions;
}
