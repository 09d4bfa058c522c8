"""The compiled tick, as far as both engines share it: weather → tickers → rotors before the bodies move, sensors →
guide → estimator → controller after that.

It runs for as many ticks as nobody looks. Everything a scenario chooses arrives in tables: which kernels a block calls
and how often, which sensors sit where.
"""

from airloom.compiled import compiled, numbers_at, tables
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.control.flight_stack import call_block, call_guide
from airloom.engines.gusts import feel_gusts, forget_gusts
from airloom.physics.rotor import spin_rotors, sum_rotors, thin_out
from airloom.physics.wrench import call_tickers
from airloom.sensors.sensor import DELAYED, READING, READING_WIDTH, call_sensor
from airloom.watch.divergence import keep_sane
from airloom.weather.air import is_wind, wind_at
from airloom.world.atmosphere import STANDARD_DENSITY, geopotential, humid_air_density
from airloom.world.ground import W_ALTITUDE, W_CURVATURE, W_HUMIDITY, W_PRESSURE, W_STEP, W_TEMPERATURE


@compiled
def sense(w, tick, world, stack, sensing):
    """Sample the block's sensors that are due, then publish the samples whose delay is over.

    One after the other, because a reading that was written just now is slow to read back.
    """
    if tick % stack[tables.SENSOR_TICKS] != 0:
        return
    sensors, first, end = sensing.table, stack[tables.FIRST_SENSOR], stack[tables.END_SENSOR]
    for k in range(first, end):
        sample = tick // sensors[k, tables.TICKS]
        if sample * sensors[k, tables.TICKS] == tick and is_measuring(sensing, k, tick):
            call_sensor(
                sensors[k, tables.KERNEL], w, sensors[k, tables.LANE], world, sensing.rows[k], sensing.keys[k], sample
            )
    for k in range(first, end):
        delay, numbers = sensors[k, tables.DELAY], sensing.rows[k]
        if delay > 0:
            if wait_in_queue(
                numbers, sensing.queue[k], tick, sensors[k, tables.TICKS], delay, sensors[k, tables.FIRST]
            ):
                deliver(w, k, tick, tick - delay, numbers, DELAYED, sensing)
        elif tick % sensors[k, tables.TICKS] == 0 and tick >= sensors[k, tables.FIRST]:
            deliver(w, k, tick, tick, numbers, READING, sensing)


@compiled
def is_measuring(sensing, k, tick):
    """Not in an outage, nor once it is frozen: that needs a reading to be frozen at."""
    return tick >= sensing.table[k, tables.FIRST] and (sensing.table[k, tables.FROZEN] == 0 or sensing.stamps[k] < 0)


@compiled
def wait_in_queue(numbers, queue, tick, period, delay, first):
    """Put the sample that was just taken into the queue, take out the one whose delay is over, if there is one that
    was measured at the tick `first` or later.
    """
    if tick % period == 0:
        slot = (tick // period) % queue.shape[0]
        for n in range(READING_WIDTH):
            queue[slot, n] = numbers[READING + n]
    measured = tick - delay
    if measured < first or measured % period != 0:
        return False
    slot = (measured // period) % queue.shape[0]
    for n in range(READING_WIDTH):
        numbers[DELAYED + n] = queue[slot, n]
    return True


@compiled
def deliver(w, k, tick, measured, numbers, at, sensing):
    """Hand the reading that stands in the row at `at` to the flight stack, and to the tape if somebody wants it."""
    i, destination, track = (
        sensing.table[k, tables.LANE],
        sensing.table[k, tables.DESTINATION],
        sensing.table[k, tables.TAPE],
    )
    sensing.stamps[k] = measured
    if destination >= 0:
        for n in range(sensing.table[k, tables.NUMBERS]):
            w[destination + n * LANES + i] = numbers[at + n]
    if track >= 0:
        line = sensing.tape[track, sensing.taped[track]]
        line[0], line[1] = tick, measured
        for n in range(READING_WIDTH):
            line[2 + n] = numbers[at + n]
        sensing.taped[track] += 1


@compiled
def guide(w, tick, stack, guides):
    """Move the setpoints of the block's vehicles that fly along something."""
    if stack[tables.GUIDED_LANES] == 0 or tick % stack[tables.GUIDE_TICKS] != 0:
        return
    for i in range(LANES):
        if guides[i, tables.GUIDE_KERNEL] != 0:
            plan = numbers_at(guides[i, tables.PLAN], guides[i, tables.PLAN_LENGTH])
            call_guide(guides[i, tables.GUIDE_KERNEL], w, i, tick, plan)


@compiled
def think(w, rotors, tick, stack):
    if stack[tables.ESTIMATOR] != 0 and tick % stack[tables.ESTIMATOR_TICKS] == 0:
        call_block(stack[tables.ESTIMATOR], w, rotors, tick)
    if stack[tables.CONTROLLER] != 0 and tick % stack[tables.CONTROLLER_TICKS] == 0:
        call_block(stack[tables.CONTROLLER], w, rotors, tick)


@compiled
def record(w, rotors, vehicles, out):
    """Keep what the log wants of each vehicle of the block in its row of a record."""
    for i in range(LANES):
        v = vehicles[i]
        if v < 0:
            continue
        for k in range(row.STATE_ROWS):
            out[v, k] = w[row.STATE + k * LANES + i]
        for k in range(tables.SETPOINT_ROWS):
            out[v, tables.RECORD_SETPOINT + k] = w[row.SPX + k * LANES + i]
        for k in range(row.COMMAND_ROWS):
            out[v, tables.RECORD_COMMAND + k] = w[row.COMMAND + k * LANES + i]
        for k in range(out.shape[1] - tables.RECORD_SPEEDS):
            out[v, tables.RECORD_SPEEDS + k] = rotors[k * row.ROTOR_WIDTH + row.SPEED + i]


@compiled
def effects_of(stack, flight):
    first, end = stack[tables.FIRST_EFFECT], stack[tables.END_EFFECT]
    return flight.effects[first:end], flight.effect_parameters[first:end]


@compiled
def feel_weather(b, tick, flight):
    """Wind and density at each vehicle's place, as often as the scenario says. A wind that is no number is not felt."""
    period = flight.weather[tables.WEATHER_TICKS]
    if period == 0 or tick % period != 0:
        return
    w, world, wings = flight.blocks[b], flight.world, flight.stacks[b, tables.WINGS]
    wind = w[row.SCRATCH : row.SCRATCH + 3]
    for i in range(LANES):
        if flight.vehicles[b, i] < 0:
            continue
        x, y, z = w[row.PX + i], w[row.PY + i], w[row.PZ + i]
        if flight.weather[tables.WEATHER_DENSITY] != 0:
            altitude = geopotential(world[W_ALTITUDE] + z, world[W_CURVATURE])
            density = humid_air_density(altitude, world[W_PRESSURE], world[W_TEMPERATURE], world[W_HUMIDITY])
            w[row.DENSITY + i] = density / STANDARD_DENSITY
        if flight.blown[b, i] == 0:
            if wings >= 0:
                forget_gusts(i, flight.effect_parameters[wings])
            continue
        wind_at(flight.layers, world, tick * world[W_STEP], x, y, z, wind)
        if is_wind(wind[0], wind[1], wind[2]):
            w[row.WINDX + i], w[row.WINDY + i], w[row.WINDZ + i] = wind[0], wind[1], wind[2]
            if wings >= 0:
                feel_gusts(flight.layers, world, tick * world[W_STEP], w, i, flight.effect_parameters[wings], wind)
        elif flight.foul[b, 0] < 0.0:
            flight.foul[b, 0], flight.foul[b, 1], flight.foul[b, 2], flight.foul[b, 3] = tick, x, y, z


@compiled
def prepare_forces(b, tick, flight):
    """All that precedes the engine in a tick: the weather, what goes on beside the bodies, and the rotors."""
    w, rotors, stack = flight.blocks[b], flight.rotors[b], flight.stacks[b]
    effects, parameters = effects_of(stack, flight)
    feel_weather(b, tick, flight)
    call_tickers(w, rotors, flight.world, tick, effects, parameters)
    spin_rotors(rotors)
    sum_rotors(w, rotors, flight.propellers[stack[tables.PROPELLERS]])
    if flight.weather[tables.WEATHER_DENSITY] != 0:
        thin_out(w)


@compiled
def keep_start_velocity(w):
    """Velocity and rates before a tick, where the batch engine keeps its whole state."""
    for j in range(6 * LANES):
        w[row.START + row.VX - row.STATE + j] = w[row.VX + j]


@compiled
def keep_mean_acceleration(w, dt):
    """What an IMU sees of a tick: the change of velocity and of rates over it."""
    start_velocity, start_rates = row.START + row.VX - row.STATE, row.START + row.WX - row.STATE
    for j in range(3 * LANES):
        w[row.MEAN_AX + j] = (w[row.VX + j] - w[start_velocity + j]) / dt
        w[row.MEAN_ALPHA_X + j] = (w[row.WX + j] - w[start_rates + j]) / dt


@compiled
def look_and_think(b, tick, flight, sensing, record_ticks, first_record):
    """All that follows the engine in a tick."""
    w, rotors, stack = flight.blocks[b], flight.rotors[b], flight.stacks[b]
    keep_sane(w, tick, flight.sane[b])
    sense(w, tick, flight.world, stack, sensing)
    guide(w, tick, stack, flight.guides[b])
    think(w, rotors, tick, stack)
    if record_ticks > 0 and tick % record_ticks == 0:
        record(w, rotors, flight.vehicles[b], flight.records[tick // record_ticks - first_record])


@compiled
def look_once(tick, flight, sensing, record_ticks, first_record):
    """The first look, before anything has moved."""
    for b in range(flight.blocks.shape[0]):
        look_and_think(b, tick, flight, sensing, record_ticks, first_record)
