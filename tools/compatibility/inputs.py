"""Inputs of the form that the programs read, the same in every run. Each function writes `path` (a pathlib.Path)."""
import itertools
import math
import random
import struct

from . import graphs


def _random(path, *parameters):
    return random.Random(f"{path.name} {parameters}")


def _lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))


def text(path, content):
    path.write_text(content)


def byte_values(path, count):
    """Bytes with an uneven distribution, so that a code of variable length pays."""
    values = _random(path, count)
    path.write_bytes(bytes(min(255, int(values.expovariate(0.05))) for _ in range(count)))


def pixels(path, side):
    """Interleaved 8-bit RGB: gradients and noise."""
    values = _random(path, side)
    path.write_bytes(bytes(channel for y in range(side) for x in range(side)
                           for channel in (x * 255 // side, y * 255 // side, values.randrange(256))))


def graph(path, nodes, heaviest=9):
    """Rodinia's and Parboil's graphs: nodes, (first edge, edges) of each, source, edges, (target, weight) of each."""
    values = _random(path, nodes)
    targets = [[values.randrange(nodes) for _ in range(values.randrange(2, 10))] for _ in range(nodes)]
    first, rows = 0, []
    for node in targets:
        rows.append(f"{first} {len(node)}")
        first += len(node)
    edges = [f"{target} {values.randrange(1, heaviest + 1)}" for node in targets for target in node]
    _lines(path, [nodes, *rows, "", 0, "", first, *edges])


def keys(path, count):
    """A count, then as many different keys, in no order."""
    order = list(range(count))
    _random(path, count).shuffle(order)
    _lines(path, [count, *order])


def temperatures(path, side, layers=1):
    values = _random(path, side, layers)
    _lines(path, (f"{values.uniform(320, 345):.6f}" for _ in range(side * side * layers)))


def powers(path, side, layers=1):
    values = _random(path, side, layers)
    _lines(path, (f"{values.uniform(0, 0.02):.6f}" for _ in range(side * side * layers)))


def mesh(path, elements):
    """A mesh of euler3d: volume, then neighbour and outer normal of each of four faces, of each element. A band of
    quadrilaterals; the lowest row lies on a wall (neighbour 0), the outermost elements see the far field (-1)."""
    width = 64
    rows = elements // width
    normals = ((1, 0), (-1, 0), (0, 1), (0, -1))
    lines = [width * rows]
    for element in range(width * rows):
        x, y = element % width, element // width
        faces = []
        for dx, dy in normals:
            inside = 0 <= x + dx < width and 0 <= y + dy < rows
            neighbour = element + dx + dy * width + 1 if inside else 0 if y + dy < 0 else -1
            faces.append(f"{neighbour} {dx * 0.1:.4f} {dy * 0.1:.4f} 0.0")
        lines.append("0.01 " + " ".join(faces))
    _lines(path, lines)


def _disc(values, x, y, columns, rows, frame):
    """Brightness of a dim picture with bright rings that move a little from frame to frame."""
    near = min(math.hypot(x - cx - frame, y - cy - frame) for cx, cy in ((columns * 0.3, rows * 0.5),
                                                                         (columns * 0.6, rows * 0.4)))
    return int(60 + 120 * math.exp(-((near - 12) / 4) ** 2)) + values.randrange(20)


def image(path, columns, rows):
    """An ASCII PGM."""
    values = _random(path, columns, rows)
    rows_of = (" ".join(str(_disc(values, x, y, columns, rows, 0)) for x in range(columns)) for y in range(rows))
    _lines(path, ["P2", f"{columns} {rows}", "255", *rows_of])


def bitmap(path, columns, rows):
    """An uncompressed BMP of 24 bits a pixel: rings on a gradient, and noise. Rows are a multiple of four bytes."""
    values = _random(path, columns, rows)
    row = (3 * columns + 3) // 4 * 4
    pixels = bytearray()
    for y in range(rows):
        line = bytes(channel for x in range(columns)
                     for channel in (_disc(values, x, y, columns, rows, 0), x * 255 // columns, y * 255 // rows))
        pixels += line.ljust(row, b"\0")
    header = struct.pack("<IiiHHIIiiII", 40, columns, rows, 1, 24, 0, len(pixels), 2835, 2835, 0, 0)
    path.write_bytes(b"BM" + struct.pack("<IHHI", 14 + len(header) + len(pixels), 0, 0, 14 + len(header)) + header +
                     bytes(pixels))


def video(path, frames, rows, columns):
    """An AVI of uncompressed 8-bit frames with an index."""
    def chunk(name, data):
        return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)

    def group(name, *parts):
        return chunk(b"LIST", name + b"".join(parts))

    values = _random(path, frames, rows, columns)
    size = rows * columns
    grain = [bytes(60 + values.randrange(20) for _ in range(columns + frames)) for _ in range(rows + frames)]
    pictures = []
    for frame in range(frames):
        picture = bytearray().join(grain[y + frames - frame][frames - frame:][:columns] for y in range(rows))
        for cx, cy in ((0.3, 0.5), (0.6, 0.4), (0.45, 0.6)):
            centre_x, centre_y = int(columns * cx) + frame, int(rows * cy) + frame
            for y in range(max(0, centre_y - 20), min(rows, centre_y + 21)):
                for x in range(max(0, centre_x - 20), min(columns, centre_x + 21)):
                    near = math.hypot(x - centre_x, y - centre_y)
                    picture[y * columns + x] += int(120 * math.exp(-((near - 12) / 4) ** 2))
        pictures.append(bytes(picture))
    header = struct.pack("<14I", 40000, size * 25, 0, 0x10, frames, 0, 1, size, columns, rows, 0, 0, 0, 0)
    stream = struct.pack("<4s4sIIIIIIIIIIII", b"vids", b"DIB ", 0, 0, 0, 1, 25, 0, frames, size, 0, 0, 0, 0)
    layout = struct.pack("<IiiHHIIiiII", 40, columns, rows, 1, 8, 0, size, 0, 0, 256, 0)
    lists = group(b"hdrl", chunk(b"avih", header), group(b"strl", chunk(b"strh", stream), chunk(b"strf", layout)))
    movie = group(b"movi", *(chunk(b"00db", picture) for picture in pictures))
    index = b"".join(b"00db" + struct.pack("<III", 0x10, 4 + i * (size + size % 2 + 8), size) for i in range(frames))
    path.write_bytes(chunk(b"RIFF", b"AVI " + lists + movie + chunk(b"idx1", index)))


def features(path, points, dimensions):
    """Points around five centres: a number, then the coordinates."""
    values = _random(path, points, dimensions)
    centres = [[values.uniform(0, 100) for _ in range(dimensions)] for _ in range(5)]
    _lines(path, (f"{i} " + " ".join(f"{values.gauss(c, 3):.4f}" for c in centres[i % 5]) for i in range(points)))


def genome(path, bases):
    values = _random(path, bases)
    sequence = "".join(values.choice("ACGT") for _ in range(bases))
    _lines(path, [">reference", *(sequence[i:i + 70] for i in range(0, bases, 70))])


def reads(path, source, count):
    """Reads of 30 bases from `source`, beside `path`."""
    values = _random(path, count)
    sequence = "".join((path.parent / source).read_text().splitlines()[1:])
    lines = []
    for i in range(count):
        start = values.randrange(len(sequence) - 30)
        lines += [f">read{i}", sequence[start:start + 30]]
    _lines(path, lines)


def hurricanes(path, count):
    """Records of nn, of 48 characters each, in one file that `path` names."""
    values = _random(path, count)
    database = path.with_name(path.name + "_db")
    _lines(database, (f"{values.randrange(1950, 2010)} {values.randrange(1, 13):2} {values.randrange(1, 29):2} "
                      f"{values.randrange(24):2} {i % 100:2} {'NAME':9} {values.uniform(10, 60):5.1f} "
                      f"{values.uniform(0, 360):5.1f} {values.randrange(30, 160):4} {values.randrange(900):4}"
                      for i in range(count)))
    path.write_text(database.name + "\n")


def numbers(path, count, low, high):
    values = _random(path, count)
    _lines(path, (f"{values.uniform(low, high):.6f}" for _ in range(count)))


def matrices(path, count, numbers_each):
    """A count, then the numbers of as many matrices."""
    values = _random(path, count, numbers_each)
    _lines(path, [count] + [f"{values.uniform(-1, 1):.6f}" for _ in range(count * numbers_each)])


def observations(path, count, features_each):
    """Labels of -1 and 1 with sparse features, as libsvm writes them."""
    values = _random(path, count, features_each)
    rows = []
    for _ in range(count):
        chosen = sorted(values.sample(range(1, features_each + 1), features_each // 4))
        rows.append(" ".join([str(values.choice((-1, 1)))] + [f"{i}:{values.uniform(-1, 1):.4f}" for i in chosen]))
    _lines(path, rows)


def signed_edges(path, nodes, count):
    """A head line, then "from,to,sign" of each edge; a cycle makes the graph connected."""
    values = _random(path, nodes, count)
    edges = [(i, (i + 1) % nodes) for i in range(nodes)]
    edges += [(values.randrange(nodes), values.randrange(nodes)) for _ in range(count)]
    _lines(path, ["from,to,sign"] + [f"{a},{b},{values.choice((-1, 1))}" for a, b in edges])


def places(path, count):
    """Latitude and longitude, in degrees."""
    values = _random(path, count)
    _lines(path, (f"{values.uniform(-90, 90):.4f} {values.uniform(-180, 180):.4f}" for _ in range(count)))


def clusters(path, centres_file, count):
    """Points in three dimensions around three centres, and the centres."""
    values = _random(path, count)
    centres = [(20.0, 20.0, 20.0), (120.0, 30.0, 90.0), (60.0, 140.0, 150.0)]
    _lines(path, (",".join(f"{values.gauss(c, 3):.4f}" for c in centres[i % 3]) for i in range(count)))
    _lines(path.with_name(centres_file), (",".join(map(str, centre)) for centre in centres))


def float_image(path, side):
    """Binary: a square of floats with one peak."""
    values = _random(path, side)
    path.write_bytes(b"".join(struct.pack("<f", math.exp(-((x - side / 2) ** 2 + (y - side / 2) ** 2) / 8) +
                                          values.uniform(-0.05, 0.05)) for y in range(side) for x in range(side)))


def ecl_graph(path, nodes, degree):
    """A binary graph of the ECL programs: nodes, edges, first edge of each node, targets, weights; both directions."""
    values = _random(path, nodes, degree)
    neighbours = [{} for _ in range(nodes)]
    for node in range(nodes):
        for _ in range(values.randrange(degree)):
            other = values.randrange(nodes)
            if other != node:
                neighbours[node][other] = neighbours[other][node] = values.randrange(1, 10)
    first = [0]
    for targets in neighbours:
        first.append(first[-1] + len(targets))
    edges = [pair for targets in neighbours for pair in sorted(targets.items())]
    numbers_of = [nodes, len(edges), *first, *(target for target, _ in edges), *(weight for _, weight in edges)]
    path.write_bytes(struct.pack(f"<{len(numbers_of)}i", *numbers_of))


def market(path, rows, degree):
    """A matrix of Matrix Market: lower triangle with its diagonal."""
    values = _random(path, rows, degree)
    entries = []
    for row in range(1, rows + 1):
        columns = {values.randrange(1, row + 1) for _ in range(degree)} | {row}
        entries += [f"{row} {column} {values.uniform(1, 2):.4f}" for column in sorted(columns)]
    _lines(path, ["%%MatrixMarket matrix coordinate real general", f"{rows} {rows} {len(entries)}", *entries])


def edges(path, nodes, count, directions=1):
    """"from to" of each edge, each once or in both directions; a path makes the graph connected."""
    values = _random(path, nodes, count)
    pairs = {(i, i + 1) for i in range(nodes - 1)}
    pairs |= {tuple(sorted(values.sample(range(nodes), 2))) for _ in range(count)}
    if directions == 2:
        pairs |= {(b, a) for a, b in pairs}
    _lines(path, (f"{a} {b}" for a, b in sorted(pairs)))


def roads(path, answer, nodes):
    """A graph of sssp: nodes, edges, source, (first edge, edges) of each node, (target, cost) of each edge; and in
    another file the cheapest way to each node. All edges cost the same: sssp has no room for nodes found twice."""
    values = _random(path, nodes)
    ways = []
    for node in range(nodes):
        targets = {(node + 1) % nodes, *(values.randrange(nodes) for _ in range(values.randrange(4)))} - {node}
        ways.append([(target, 3) for target in sorted(targets)])
    first = [sum(map(len, ways[:node])) for node in range(nodes)]
    _lines(path, [nodes, sum(map(len, ways)), 0, *(f"{first[n]} {len(ways[n])}" for n in range(nodes)),
                  *(f"{target} {cost}" for way in ways for target, cost in way)])
    costs = graphs.cheapest(ways)
    _lines(path.with_name(answer), [nodes, *(f"{node} {costs[node]}" for node in range(nodes))])


def arcs(path, nodes, degree):
    """A graph in the format of the DIMACS challenges: a ring, and arcs at random, each pair of nodes once."""
    values = _random(path, nodes, degree)
    pairs = {(node, (node + 1) % nodes) for node in range(nodes)}
    while len(pairs) < nodes * degree:
        start, end = values.randrange(nodes), values.randrange(nodes)
        if start != end and (end, start) not in pairs:
            pairs.add((start, end))
    _lines(path, [f"p p {nodes} {len(pairs)}",
                  *(f"a {start + 1} {end + 1} {values.randrange(1, 100)}" for start, end in sorted(pairs))])


def galois_graph(path, nodes, degree):
    """Binary, as Galois reads it: version, bytes of an edge's weight, nodes, edges, last edge of each node; targets, sorted;
    weights. Each edge in both directions."""
    values = _random(path, nodes, degree)
    near = [{} for _ in range(nodes)]
    for start in range(nodes):
        for end in [(start + 1) % nodes, *(values.randrange(nodes) for _ in range(degree - 1))]:
            if start != end:
                near[start][end] = near[end][start] = values.randrange(1, 100)
    pairs = [pair for ends in near for pair in sorted(ends.items())]
    last = itertools.accumulate(map(len, near))
    path.write_bytes(struct.pack(f"<4Q{nodes}Q", 1, 4, nodes, len(pairs), *last) +
                     struct.pack(f"<{len(pairs)}I", *(end for end, _ in pairs)) + bytes(4 * (len(pairs) % 2)) +
                     struct.pack(f"<{len(pairs)}I", *(weight for _, weight in pairs)))


def adjacency(path, nodes, degree):
    """The graph that arcs() makes beside it as graph.gr, its edges in both directions, in the format of METIS."""
    arcs(path.with_name("graph.gr"), nodes, degree)
    near = [[] for _ in range(nodes)]
    for line in path.with_name("graph.gr").read_text().splitlines()[1:]:
        start, end = map(int, line.split()[1:3])
        near[start - 1].append(end)
        near[end - 1].append(start)
    _lines(path, [f"{nodes} {sum(map(len, near)) // 2}", *(" ".join(map(str, ends)) for ends in near)])


def floats(path, count, low=0, high=1):
    """Binary: 32-bit floating-point numbers."""
    values = _random(path, count, low, high)
    path.write_bytes(struct.pack(f"<{count}f", *(values.uniform(low, high) for _ in range(count))))


def samples(path, some, others):
    """Binary: two counts; then three arrays of the first, three of the second and two of the first, of numbers."""
    values = _random(path, some, others)
    numbers_of = [values.uniform(-0.5, 0.5) for _ in range(5 * some + 3 * others)]
    path.write_bytes(struct.pack(f"<2i{len(numbers_of)}f", some, others, *numbers_of))


def columns(path, rows, count):
    """A matrix by columns: rows, columns, numbers."""
    values = _random(path, rows, count)
    _lines(path, [f"{rows} {count}", *(f"{values.uniform(-1, 1):.5f}" for _ in range(rows * count))])


def levels(path, width, height, bins_across, bins_down):
    """Binary, 32 bits: width, height and bins of a histogram, then the bin of each pixel, most of them near the middle."""
    values = _random(path, width, height)
    bins = bins_across * bins_down
    pixels = (min(bins - 1, max(0, int(values.gauss(bins / 2, bins / 16)))) for _ in range(width * height))
    path.write_bytes(struct.pack(f"<{4 + width * height}I", width, height, bins_across, bins_down, *pixels))


def frame(path, width, height, moved):
    """Binary, 16 bits: width, height, pixels: rings that `moved` pixels of motion have shifted."""
    values = _random(path, width, height)
    pixels = (_disc(values, x, y, width, height, moved) for y in range(height) for x in range(width))
    path.write_bytes(struct.pack(f"<{2 + width * height}H", width, height, *pixels))


def atoms(path, count, side):
    """Charges in a cube, in the format of PQR files."""
    values = _random(path, count, side)
    rows = (" ".join(f"{values.uniform(0, side):.3f}" for _ in range(3)) + f" {values.uniform(-1, 1):.4f} 1.5"
            for _ in range(count))
    _lines(path, (f"ATOM  {i + 1:5} C   RES {i // 10 + 1:5} {row}" for i, row in enumerate(rows)))


def obstacles(path, columns_of, rows, layers):
    """Layers of rows of dots, with an empty line behind each layer; a number sign is an obstacle."""
    values = _random(path, columns_of, rows, layers)
    layer = ["".join("#" if values.random() < 0.02 else "." for _ in range(columns_of)) for _ in range(rows)]
    _lines(path, (line for _ in range(layers) for line in [*layer, ""]))


def table(path, rows, columns, separator):
    """Numbers; all after a row's first follow it, with noise."""
    values = _random(path, rows, columns)
    for_row = ([x] + [2 * x + i + values.gauss(0, 1) for i in range(1, columns)]
               for x in (values.uniform(0, 50) for _ in range(rows)))
    _lines(path, (separator.join(f"{number:.4f}" for number in row) for row in for_row))


def read_pairs(path, count, length):
    """Two sequences of bases, with a tab between them; every other pair differs in a few places."""
    values = _random(path, count, length)
    rows = []
    for i in range(count):
        one = [values.choice("ACGT") for _ in range(length)]
        other = list(one)
        for _ in range(i % 2 * values.randrange(1, 12)):
            other[values.randrange(length)] = values.choice("ACGT")
        rows.append("".join(one) + "\t" + "".join(other))
    _lines(path, rows)


KINDS = {maker.__name__: maker for maker in (
    text, byte_values, pixels, graph, keys, temperatures, powers, mesh, image, bitmap, video, features, genome, reads,
    hurricanes, numbers, matrices, observations, signed_edges, places, clusters, float_image, ecl_graph, market, edges,
    roads, arcs, galois_graph, adjacency, floats, samples, columns, levels, frame, atoms, obstacles, table, read_pairs)}
