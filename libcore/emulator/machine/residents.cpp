#include "emulator/machine/residents.hpp"

#include <algorithm>

#include "base/diag/diag.hpp"

namespace kernelcast::emu {

Residents::Residents(Program const& program, Launch const& launch, Memory& memory, std::span<Observer* const> observers,
                     Budget& budget)
    : program_(program), launch_(launch), memory_(memory), observers_(observers), budget_(budget) {}

void Residents::run(Machine& first, std::span<std::uint64_t const> others) {
  others_ = others;
  std::uint64_t const bytes = first.bytes(), limit = first.max_bytes();
  if (launch_.cooperative && bytes * (others.size() + 1) > limit)
    throw Error(Status::limit,
                "kernel '" + std::string(program_.kernel().name) + "' is launched cooperatively: its " +
                    std::to_string(others.size() + 1) + " groups run together and need " + std::to_string(bytes) +
                    " bytes each; the limit is " + std::to_string(limit),
                "raise --max-memory, or launch fewer groups");
  std::uint64_t const most = launch_.cooperative ? ~std::uint64_t{0} : std::min(limit, max_waiting_bytes) / bytes;
  residents_.push_back(std::make_unique<Resident>());
  residents_[0]->machine = &first;
  residents_[0]->running = true;
  texts_.emplace_back();
  for (bool waiting = true; waiting;) {
    // Groups that were set aside may wait for groups that have not begun.
    for (std::size_t more = residents_.size(); more > 0 && !others_.empty() && residents_.size() < most; --more) add();
    waiting = false;
    for (auto const& resident : residents_) waiting |= resident->running && !take_turn(*resident);
    waiting |= !others_.empty();
  }
}

void Residents::add() {
  Resident& made = *residents_.emplace_back(std::make_unique<Resident>());
  for (Observer const* o : observers_) made.observers.push_back(made.forks.emplace_back(o->fork()).get());
  made.own = std::make_unique<Machine>(program_, launch_, memory_, made.observers, budget_,
                                       residents_[0]->machine->groups_at_once() > 1);
  made.machine = made.own.get();
  begin(made);
}

void Residents::begin(Resident& r) {
  std::size_t const count = std::min(r.machine->groups_at_once(), others_.size());
  r.machine->begin(others_.first(count), launch_.cooperative ? TurnLength::short_turns : TurnLength::turns);
  others_ = others_.subspan(count);
  r.text = texts_.size();
  texts_.emplace_back();
  r.running = true;
}

bool Residents::take_turn(Resident& r) {
  bool const done = r.machine->turn();
  texts_[r.text] += r.machine->take_printed();
  if (!done) return false;
  r.machine->end();
  r.running = false;
  if (!others_.empty()) begin(r);
  return !r.running;
}

void Residents::join() {
  for (auto const& resident : residents_)
    for (std::size_t i = 0; i < resident->forks.size(); ++i) observers_[i]->join(*resident->forks[i]);
}

std::string Residents::take_printed() {
  std::string all;
  for (auto const& resident : residents_)
    if (resident->machine) texts_[resident->text] += resident->machine->take_printed();
  for (std::string const& text : texts_) all += text;
  texts_.assign(texts_.size(), {});
  return all;
}

std::uint64_t Residents::warp_instructions() const {
  std::uint64_t sum = 0;
  for (auto const& resident : residents_)
    if (resident->own) sum += resident->own->warp_instructions();
  return sum;
}

}  // namespace kernelcast::emu
